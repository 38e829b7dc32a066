#!/usr/bin/env node
// A distance and an embedding in one program, for Node without any package: the counts
// of the letters a to z, and the share of letters that two texts do not have in common.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
const answer = (message) => process.stdout.write(JSON.stringify(message) + "\n");
// Standard output is for answers: what libraries log goes to standard error.
console.log = console.info = console.error;

function counts(text) {
  const vector = new Array(26).fill(0);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (letter.length === 1 && place >= 0 && place < 26) vector[place] += 1;
  }
  return vector;
}

function distance(hypothesis, reference) {
  const left = counts(hypothesis);
  const right = counts(reference);
  let different = 0;
  let all = 0;
  for (let place = 0; place < 26; place += 1) {
    different += Math.abs(left[place] - right[place]);
    all += left[place] + right[place];
  }
  return all ? different / all : 0;
}

let kind = null;
for await (const line of lines) {
  const message = JSON.parse(line);
  if (kind === null) {
    kind = message.kind;
    if (kind === "distance") {
      answer({ protocol: 1, name: "letter-difference", version: "1.0", symmetric: true });
    } else if (kind === "embedding") {
      answer({ protocol: 1, name: "letter-counts", version: "1.0" });
    } else {
      answer({ error: `letters.mjs is a distance and an embedding, no ${kind}` });
    }
  } else if ("end" in message) {
    break;
  } else if ("id" in message) {
    try {
      const value =
        kind === "distance" ? distance(message.hypothesis, message.reference) : counts(message.text);
      answer({ id: message.id, value });
    } catch (error) {
      answer({ id: message.id, error: String(error) }); // of this item; the others go on
    }
  }
}
process.exit(0);
