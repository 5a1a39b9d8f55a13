// Exact comparisons with a readable difference, and a count of them.

export class Checks {
  constructor(subject) {
    this.subject = subject;
    this.passed = 0;
    this.failed = 0;
  }

  equal(name, got, want) {
    const [received, expected] = [pretty(got), pretty(want)];
    if (received === expected) {
      this.passed += 1;
      return;
    }
    this.failed += 1;
    console.error(`not as expected: ${this.subject}: ${name}`);
    console.error(difference(expected.split("\n"), received.split("\n")));
  }

  true(name, condition) {
    this.equal(name, condition, true);
  }

  // Prints the count and returns the exit code.
  finish() {
    console.log(`${this.subject}: ${this.passed} passed, ${this.failed} failed`);
    return this.failed > 0 ? 1 : 0;
  }
}

// Sorted keys, because JSON objects have no order.
function pretty(value) {
  return JSON.stringify(sorted(value), null, 2) ?? "undefined";
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

// The common start and end are left out: what is printed is what differs.
function difference(expected, received) {
  let start = 0;
  while (start < expected.length && start < received.length && expected[start] === received[start]) start += 1;
  let [a, b] = [expected.length, received.length];
  while (a > start && b > start && expected[a - 1] === received[b - 1]) [a, b] = [a - 1, b - 1];
  return [
    ...expected.slice(Math.max(0, start - 2), start).map((line) => `    ${line}`),
    ...expected.slice(start, a).map((line) => `  - ${line}`),
    ...received.slice(start, b).map((line) => `  + ${line}`),
  ].join("\n");
}
