// Intervals and paired tests of numbers that are functions of sums over examples, as `harness score` computes them: the same draws of
// NumPy's generator, sums that are rounded once, bootstrap percentiles and BCa, approximate randomisation.

/** Bootstrap samples of an interval, and draws of a comparison. */
export const SAMPLES = 1000;
export const DRAWS = 10000;
/** Fewest examples with an interval; from SMALL on percentiles, below BCa; from LARGE on the harness draws other weights. */
export const FEWEST = 10;
export const SMALL = 500;
export const LARGE = 20000;
const TIE = 1e-12;

/** Sum of the numbers from `start` to `end`, added in NumPy's order. */
export function pairwiseSum(values, start = 0, end = values.length) {
  const size = end - start;
  if (size < 8) {
    let total = 0;
    for (let k = start; k < end; k++) total += values[k];
    return total;
  }
  if (size > 128) {
    const half = Math.floor(size / 2);
    const middle = start + half - (half % 8);
    return pairwiseSum(values, start, middle) + pairwiseSum(values, middle, end);
  }
  const r = Array.from(values.slice(start, start + 8));
  let k = start + 8;
  for (; k < end - (size % 8); k += 8) for (let j = 0; j < 8; j++) r[j] += values[k + j];
  let total = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  for (; k < end; k++) total += values[k];
  return total;
}

export const mean = (values) => pairwiseSum(values) / values.length;

/** Quantile of sorted numbers, linear between two of them. */
export function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const [low, high] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]];
  const part = place - below;
  return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

const NDTRI = [
  [-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1, -1.23916583867381258016],
  [1, 1.95448858338141759834, 4.67627912898881538453, 8.63602421390890590575e1, -2.25462687854119370527e2, 2.00260212380060660359e2,
    -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142],
  [4.05544892305962419923, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1, 1.46849561928858024014e1,
    2.18663306850790267539, -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4],
  [1, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1, 2.50464946208309415979,
    -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4],
];
const polynomial = (x, coefficients) => coefficients.reduce((value, coefficient) => value * x + coefficient);

/** Quantile of the normal distribution (Cephes, ndtri.c), for shares between 1e-14 and 1 - 1e-14. */
export function normalQuantile(p) {
  const tail = 0.13533528323661269189;
  const low = p <= 1 - tail;
  const share = low ? p : 1 - p;
  if (share > tail) {
    const centred = share - 0.5;
    const square = centred * centred;
    return (centred + centred * ((square * polynomial(square, NDTRI[0])) / polynomial(square, NDTRI[1]))) * 2.5066282746310005;
  }
  const root = Math.sqrt(-2 * Math.log(share));
  const inverse = 1 / root;
  const size = root - Math.log(root) / root - (inverse * polynomial(inverse, NDTRI[2])) / polynomial(inverse, NDTRI[3]);
  return low ? -size : size;
}

/** Probability that a standard normal number is at most x (Cephes, ndtr.c). */
export function normalCdf(x) {
  const scaled = x * Math.SQRT1_2;
  const size = Math.abs(scaled);
  if (size < 1) return 0.5 + (0.5 * scaled * polynomial(scaled * scaled, NDTR[0])) / polynomial(scaled * scaled, NDTR[1]);
  const [above, under] = size < 8 ? [NDTR[2], NDTR[3]] : [NDTR[4], NDTR[5]];
  const tail = size * size > 709.78 ? 0 : (0.5 * Math.exp(-size * size) * polynomial(size, above)) / polynomial(size, under);
  return scaled > 0 ? 1 - tail : tail;
}
const NDTR = [
  [9.60497373987051638749, 9.00260197203842689217e1, 2.23200534594684319226e3, 7.00332514112805075473e3, 5.55923013010394962768e4],
  [1, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3, 2.26290000613890934246e4, 4.92673942608635921086e4],
  [2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687, 4.86371970985681366614e1, 1.96520832956077098242e2,
    5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2],
  [1, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2, 1.82390916687909736289e3,
    2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2],
  [5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414, 6.16021097993053585195, 7.40974269950448939160,
    2.97886665372100240670],
  [1, 2.26052863220117276590, 9.39603524938001434673, 1.20489539808096656605e1, 1.70814450747565897222e1, 9.60896809063285878198,
    3.36907645100081516050],
];

/** Number t with P(|T| < t) = 0.95 for Student's distribution with a whole number of degrees of freedom. */
export function studentQuantile(freedom) {
  // Abramowitz & Stegun (1964), 26.7.3 and 26.7.4: the probability is a finite sum of powers of a cosine.
  const within = (t) => {
    const angle = Math.atan(t / Math.sqrt(freedom));
    const [sine, square] = [Math.sin(angle), Math.cos(angle) ** 2];
    let total = 0;
    const odd = freedom % 2;
    for (let k = freedom - 2; k > odd; k -= 2) total = (1 + total) * square * ((k - 1) / k);
    if (!odd) return sine * (1 + total);
    return (2 / Math.PI) * (angle + (freedom > 1 ? sine * Math.cos(angle) * (1 + total) : 0));
  };
  let [low, high] = [0, 13];
  for (let step = 0; step < 80; step++) {
    const middle = (low + high) / 2;
    if (within(middle) < 0.95) low = middle;
    else high = middle;
  }
  return high;
}

/** 95 % interval of bootstrap values, or null where they do not differ; `without` are the numbers without one example each. */
export function intervalOfDraws(draws, value, without, examples) {
  const values = draws.filter((x) => !Number.isNaN(x)).sort();
  const largest = Math.max(Math.abs(values[0]), Math.abs(values[values.length - 1]));
  if (!values.length || !Number.isFinite(largest) || values[values.length - 1] - values[0] <= TIE * largest) return null;
  if (examples >= SMALL) return [quantile(values, (1 - 0.95) / 2), quantile(values, 1 - (1 - 0.95) / 2)];
  const tie = TIE * largest;
  let below = 0;
  for (const x of values) below += x < value - tie ? 1 : Math.abs(x - value) <= tie ? 0.5 : 0;
  const count = values.length;
  const shift = normalQuantile(Math.min(Math.max(below / count, 0.5 / count), 1 - 0.5 / count));
  const average = mean(without);
  let influence = without.map((x) => average - x);
  const scale = influence.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
  influence = influence.map((x) => x / scale);
  const squares = pairwiseSum(influence.map((x) => x * x));
  const acceleration = squares > 0 ? pairwiseSum(influence.map((x) => x ** 3)) / (6 * squares ** 1.5) : 0;
  const z = studentQuantile(examples - 1) * Math.sqrt(examples / (examples - 1));
  const [low, high] = [-z, z].map((quantum) => {
    const denominator = 1 - acceleration * (shift + quantum);
    if (denominator <= 0) return quantile(values, shift + quantum > 0 ? 1 : 0);
    return quantile(values, normalCdf(shift + (shift + quantum) / denominator));
  });
  return [Math.min(low, value), Math.max(high, value)];
}

/** Interval of a share near 0 or 1 (Wilson 1927). */
export function wilsonInterval(share, examples) {
  const z = normalQuantile((1 + 0.95) / 2);
  const spread = z * Math.sqrt((share * (1 - share)) / examples + z ** 2 / (4 * examples ** 2));
  const scale = 1 + z ** 2 / examples;
  const [low, high] = [-1, 1].map((sign) => (share + z ** 2 / (2 * examples) + sign * spread) / scale);
  return [Math.max(0, Math.min(low, share)), Math.min(1, Math.max(high, share))];
}

/** Rows (R, k) of sums without the addends of one example each. */
function withoutEach(total, addends, width) {
  return addends.map((value, k) => total[k % width] - value);
}

/** Sums (width) of addends (examples, width), added in the order of the examples. */
export function totals(addends, width) {
  const total = new Float64Array(width);
  addends.forEach((value, k) => (total[k % width] += value));
  return total;
}

/**
 * Sums of the addends of results under the same random weights: a function of a result, (draws, width) of its own. `kernels` has drawSums,
 * which may return a promise: a page draws in workers.
 */
async function drawSums(kernels, results, kind, draws, seed) {
  const blocks = []; // equal columns, such as the counts of BLEU-1 to BLEU-4, are drawn once
  let width = 0;
  const blockOf = new Map(results.map((result) => {
    const known = blocks.find(({ addends }) =>
      addends === result.addends || (addends.length === result.addends.length && addends.every((value, k) => value === result.addends[k])));
    if (known) return [result, known];
    blocks.push({ addends: result.addends, width: result.width, start: width });
    width += result.width;
    return [result, blocks[blocks.length - 1]];
  }));
  const examples = results[0].scores.length;
  const columns = new Float64Array(examples * width);
  for (const block of blocks) {
    for (let i = 0; i < examples; i++) columns.set(block.addends.subarray(i * block.width, (i + 1) * block.width), i * width + block.start);
  }
  const sums = await kernels.drawSums(columns, width, kind, draws, seed);
  return (result) => {
    const block = blockOf.get(result);
    const own = new Float64Array(draws * block.width);
    for (let k = 0; k < draws; k++) own.set(sums.subarray(k * width + block.start, k * width + block.start + block.width), k * block.width);
    return own;
  };
}

/**
 * 95 % intervals of results on the same examples, null for those without one. A result has scores of the examples, addends
 * (examples, width), ofSums, value and bounds.
 */
export async function confidenceIntervals(kernels, results, seed = 0) {
  if (!results.length || results[0].scores.length < FEWEST) return results.map(() => null);
  const sums = await drawSums(kernels, results.filter(isDefined), "multinomial", SAMPLES, seed);
  return results.map((result) => (isDefined(result) ? cutToBounds(result, ownInterval(result, sums)) : null));
}

const isDefined = (result) => Number.isFinite(result.value);

function ownInterval(result, sums) {
  const examples = result.scores.length;
  const [lowest, highest] = result.bounds;
  if (result.isShare && result.scores.every((score) => score === lowest || score === highest)) {
    const share = result.scores.filter((score) => score === highest).length / examples;
    return wilsonInterval(share, examples).map((end) => lowest + (highest - lowest) * end);
  }
  const total = totals(result.addends, result.width);
  const without = examples < SMALL ? result.ofSums(withoutEach(total, result.addends, result.width)) : [];
  return intervalOfDraws(result.ofSums(sums(result)), result.ofSums(total)[0], without, examples);
}

function cutToBounds({ bounds: [lowest, highest], value }, ends) {
  return ends && [Math.max(ends[0], Math.min(lowest, value)), Math.min(ends[1], Math.max(highest, value))];
}

/**
 * Comparisons of systems with the first one: a list of objects (metric -> a, b, difference, interval, p, draws, exact) with the
 * difference of a system to the first. `systems` are objects (metric -> result) on the same examples.
 */
export async function compareSystems(kernels, systems, draws = DRAWS, seed = 0) {
  const [baseline, ...others] = systems;
  const results = systems.flatMap((system) => Object.values(system)).filter(isDefined);
  if (!others.length || !results.length) return [];
  const examples = results[0].scores.length;
  const exact = examples < 31 && 2 ** examples <= draws;
  const assignments = exact ? 2 ** examples : draws;
  const [resampled, assigned] = await Promise.all([
    examples >= FEWEST ? drawSums(kernels, results, "resamples", draws, seed) : () => new Float64Array(),
    drawSums(kernels, results, exact ? "patterns" : "assignments", assignments, seed),
  ]);
  const sideOf = (result) => ({
    ...result, total: totals(result.addends, result.width), resampled: resampled(result), assigned: assigned(result),
  });
  return others.map((system) => {
    const names = Object.keys(system).filter((name) => baseline[name] && isDefined(system[name]) && isDefined(baseline[name]));
    return Object.fromEntries(names.map((name) => {
      const sides = [system[name], baseline[name]].map(sideOf);
      return [name, { ...testDifference(system[name].ofSums, sides, examples, exact), draws: assignments, exact }];
    }));
  });
}

function testDifference(ofSums, [a, b], examples, exact) {
  const [valueA, valueB] = [ofSums(a.total)[0], ofSums(b.total)[0]];
  const scale = Math.max(Math.abs(valueA), Math.abs(valueB));
  let difference = valueA - valueB;
  if (Math.abs(difference) <= TIE * scale) difference = 0;
  let interval = null;
  if (examples >= FEWEST) {
    const subtract = (one, other) => one.map((value, k) => value - other[k]);
    const draws = subtract(ofSums(a.resampled), ofSums(b.resampled));
    const without = examples < SMALL
      ? subtract(...[a, b].map((side) => ofSums(withoutEach(side.total, side.addends, side.width)))) : [];
    interval = intervalOfDraws(draws, difference, without, examples);
  }
  const exchanged = (own, other) => own.assigned.map((sum, k) => sum + (other.total[k % own.width] - other.assigned[k]));
  const [one, other] = [ofSums(exchanged(a, b)), ofSums(exchanged(b, a))];
  let largest = scale;
  for (let k = 0; k < one.length; k++) largest = Math.max(largest, Math.abs(one[k]) || 0, Math.abs(other[k]) || 0);
  let [extreme, defined] = [0, 0];
  for (let k = 0; k < one.length; k++) {
    const swapped = Math.abs(one[k] - other[k]);
    if (Number.isNaN(swapped)) continue;
    defined++;
    if (swapped >= Math.abs(difference) - TIE * largest) extreme++;
  }
  return { a: valueA, b: valueB, difference, interval, p: exact && defined ? extreme / defined : (1 + extreme) / (1 + defined) };
}

/** Holm's adjusted p-values. */
export function holm(values) {
  const order = values.map((_, k) => k).sort((i, j) => values[i] - values[j]);
  const adjusted = [];
  let largest = 0;
  order.forEach((k, rank) => {
    largest = Math.max(largest, values[k] * (values.length - rank));
    adjusted[k] = Math.min(largest, 1);
  });
  return adjusted;
}
