// Numbers of examples: what the list is sorted and filtered by.
class Scores {
  constructor(name, index) {
    this.name = name;
    this.index = index;
    this.count = index.ids.length;
    this.load = cached((block) => blockNumbers(`${name}-${block}`));
  }

  /** Return numbers (examples) of a quantity: score or p of a metric for one system, or its difference to another. */
  async values({ metric, kind, system, other }) {
    const numbers = await this.load(`${kind}-${metric}`);
    const start = system * this.count;
    const values = numbers.slice(start, start + this.count);
    if (other >= 0) {
      const offset = other * this.count;
      for (let k = 0; k < this.count; k++) values[k] -= numbers[offset + k];
    }
    return values;
  }

  /** Return the scores and p-values of one example for all systems: metric -> [system -> number]. */
  async ofExample(example) {
    const rows = [];
    for (let metric = 0; metric < this.index.metrics.length; metric++) {
      const entry = this.index.metrics[metric];
      const read = async (kind) => {
        const numbers = await this.load(`${kind}-${metric}`);
        return this.index.systems.map((_, system) => numbers[system * this.count + example]);
      };
      rows.push({ name: entry.name, higher: entry.higher, scores: await read("score"), p: entry.p ? await read("p") : null });
    }
    return rows;
  }
}

/** Return the order of examples by some values; undefined ones are last. */
function orderBy(values, descending) {
  const order = Array.from(values.keys());
  const sign = descending ? -1 : 1;
  return order.sort((a, b) => {
    const x = values[a];
    const y = values[b];
    const missing = Number.isNaN(x) - Number.isNaN(y);
    return missing || (Number.isNaN(x) ? a - b : sign * (x - y) || a - b);
  });
}
