// Filters of examples by expressions, such as `cider < .3 and length > 12`. The grammar, from the loosest to the tightest:
//
//     either     = both { "or" both }
//     both       = negation { "and" negation }
//     negation   = "not" negation | comparison
//     comparison = sum [ ( "<" | "<=" | ">" | ">=" | "=" | "!=" ) sum ]
//     sum        = product { ( "+" | "-" ) product }
//     product    = factor { ( "*" | "/" ) factor }
//     factor     = "-" factor | number | "(" either ")" | function "(" sum ")" | quantity
//     function   = "abs" | "p" | "diff"
//     quantity   = name [ "[" system "]" ]
//
// A name is a metric, `length` (words per candidate) or `references` (their number); a system is A, B or the label of one; both may stand in
// quotation marks. `p(metric)` is the p-value of an example, `diff(metric)` the difference A - B. Without a system the quantity is that of A.
// Names are looked up in tables, and nothing is evaluated as code. A comparison with an undefined number is false.
const TOKEN = /\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|"([^"]*)"|([\p{L}_][\p{L}\p{N}_-]*)|(<=|>=|!=|==|[-+*/()[\]<>=])|(\S))/giuy;
const COMPARISONS = {
  "<": (x, y) => x < y,
  "<=": (x, y) => x <= y,
  ">": (x, y) => x > y,
  ">=": (x, y) => x >= y,
  "=": (x, y) => x === y,
  "!=": (x, y) => x !== y && x === x && y === y,
};
const ARITHMETIC = { "+": (x, y) => x + y, "-": (x, y) => x - y, "*": (x, y) => x * y, "/": (x, y) => x / y };
const FUNCTIONS = ["abs", "p", "diff"];

class FilterError extends Error {}

/** Return the tokens of a filter: kind, text and place. A name with a hyphen, such as `self-bleu`, is one token only where it is known. */
function filterTokens(text, known) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length && text.slice(TOKEN.lastIndex).trim()) {
    const match = TOKEN.exec(text);
    let [whole, number, quoted, name, sign, other] = match;
    const at = match.index + whole.length - whole.trimStart().length;
    while (name?.includes("-") && !known(name)) name = name.slice(0, name.lastIndexOf("-"));
    if (name) TOKEN.lastIndex = at + name.length;
    if (other) throw new FilterError(`character ${at + 1}: '${other}' has no meaning in a filter`);
    if (number) tokens.push({ kind: "number", text: number, at });
    else if (quoted !== undefined) tokens.push({ kind: "quoted", text: quoted, at });
    else if (name) tokens.push({ kind: ["and", "or", "not"].includes(name.toLowerCase()) ? name.toLowerCase() : "name", text: name, at });
    else tokens.push({ kind: sign === "==" ? "=" : sign, text: sign, at });
  }
  return [...tokens, { kind: "end", text: "", at: text.length }];
}

/** Parser by recursive descent. A node is `{truth, test}`: `test(example, columns)` gives a truth value or a number. */
class FilterParser {
  /** `names.metric(text)` and `names.system(text)` return numbers of metrics and systems, or -1. */
  constructor(text, names) {
    this.names = names;
    this.tokens = filterTokens(text, (name) => names.metric(name) >= 0);
    this.place = 0;
    this.columns = new Map();
  }

  parse() {
    const start = this.token;
    const node = this.chain("or", () => this.chain("and", () => this.negation(), (x, y) => x && y), (x, y) => x || y);
    if (this.token.kind !== "end") this.fail("'and', 'or' or the end");
    if (!node.truth) throw new FilterError(`character ${start.at + 1}: expected a comparison such as cider < .3, found a number alone`);
    return node;
  }

  get token() {
    return this.tokens[this.place];
  }

  take(...kinds) {
    return kinds.includes(this.token.kind) ? this.tokens[this.place++] : null;
  }

  expect(kind) {
    return this.take(kind) ?? this.fail(`'${kind}'`);
  }

  fail(expected) {
    const { kind, text, at } = this.token;
    throw new FilterError(`character ${at + 1}: expected ${expected}, found ${kind === "end" ? "the end" : `'${text}'`}`);
  }

  need(node, truth, token) {
    if (node.truth !== truth) {
      throw new FilterError(`character ${token.at + 1}: expected ${truth ? "a comparison" : "a number"}, found ${truth ? "a number" : "a comparison"}`);
    }
    return node.test;
  }

  chain(kind, next, combine) {
    let start = this.token;
    let node = next();
    while (this.take(kind)) {
      const left = this.need(node, true, start);
      start = this.token;
      const right = this.need(next(), true, start);
      node = { truth: true, test: (k, c) => combine(left(k, c), right(k, c)) };
    }
    return node;
  }

  negation() {
    if (!this.take("not")) return this.comparison();
    const start = this.token;
    const inner = this.need(this.negation(), true, start);
    return { truth: true, test: (k, c) => !inner(k, c) };
  }

  comparison() {
    const start = this.token;
    const left = this.sum();
    const sign = this.take(...Object.keys(COMPARISONS));
    if (!sign) return left;
    const compare = COMPARISONS[sign.kind];
    const x = this.need(left, false, start);
    const right = this.token;
    const y = this.need(this.sum(), false, right);
    return { truth: true, test: (k, c) => compare(x(k, c), y(k, c)) };
  }

  sum() {
    return this.arithmetic(["+", "-"], () => this.arithmetic(["*", "/"], () => this.factor()));
  }

  arithmetic(signs, next) {
    let start = this.token;
    let node = next();
    for (let sign = this.take(...signs); sign; sign = this.take(...signs)) {
      const left = this.need(node, false, start);
      const apply = ARITHMETIC[sign.kind];
      start = this.token;
      const right = this.need(next(), false, start);
      node = { truth: false, test: (k, c) => apply(left(k, c), right(k, c)) };
    }
    return node;
  }

  factor() {
    const start = this.token;
    if (this.take("-")) {
      const inner = this.need(this.factor(), false, start);
      return { truth: false, test: (k, c) => -inner(k, c) };
    }
    const number = this.take("number");
    if (number) {
      const value = Math.fround(Number(number.text)); // scores are numbers of 32 bits
      return { truth: false, test: () => value };
    }
    if (this.take("(")) {
      const inner = this.chain("or", () => this.chain("and", () => this.negation(), (x, y) => x && y), (x, y) => x || y);
      this.expect(")");
      return inner;
    }
    const name = this.take("name", "quoted") ?? this.fail("a number or the name of a metric");
    if (name.kind === "name" && FUNCTIONS.includes(name.text.toLowerCase()) && this.take("(")) return this.call(name.text.toLowerCase());
    return this.quantity(name, "score");
  }

  call(name) {
    if (name === "abs") {
      const start = this.token;
      const inner = this.need(this.sum(), false, start);
      this.expect(")");
      return { truth: false, test: (k, c) => Math.abs(inner(k, c)) };
    }
    const metric = this.take("name", "quoted") ?? this.fail("the name of a metric");
    const node = this.quantity(metric, name === "p" ? "p" : "diff");
    this.expect(")");
    return node;
  }

  quantity({ text, at }, kind) {
    const special = kind === "p" ? -1 : ["length", "references"].indexOf(text.toLowerCase());
    const metric = special < 0 ? this.names.metric(text) : -1;
    if (special < 0 && metric < 0) throw new FilterError(`character ${at + 1}: there is no metric '${text}'; there are ${this.names.metrics}`);
    if (kind === "p" && !this.names.tested(metric)) throw new FilterError(`character ${at + 1}: '${text}' has no p-values`);
    let system = "A";
    if (kind !== "diff" && this.take("[")) {
      const label = this.take("name", "quoted", "number") ?? this.fail("a system: A, B or a label in quotation marks");
      if (this.names.system(label.text) < 0) throw new FilterError(`character ${label.at + 1}: there is no system '${label.text}'; there are A, B, ${this.names.systems}`);
      system = label.text;
      this.expect("]");
    }
    if (kind === "diff" && this.names.system("B") < 0) throw new FilterError(`character ${at + 1}: there is no second system to subtract`);
    const source = kind === "p" ? "p" : ["length", "references"][special] ?? "score";
    const column = (label) => {
      const key = `${source}-${metric}-${label}`;
      this.columns.set(key, { kind: source, metric, label });
      return key;
    };
    if (kind !== "diff") {
      const key = column(system);
      return { truth: false, test: (k, c) => c.get(key)[k] };
    }
    const [a, b] = [column("A"), column("B")];
    return { truth: false, test: (k, c) => c.get(a)[k] - c.get(b)[k] };
  }
}

/** Return a parsed filter: columns that it needs, and a test of one example; raise FilterError, whose message is one line. */
function parseFilter(text, names) {
  const parser = new FilterParser(text, names);
  const node = parser.parse();
  return { columns: parser.columns, test: node.test };
}
