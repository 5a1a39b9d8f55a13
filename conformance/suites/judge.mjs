// What a run of a suite is worth: a row for every scenario, and whether all is as it has to be.

const statuses = { SUCCESS: "passed", FAILURE: "failed", WARNING: "warnings", SKIPPED: "skipped" };

// `suite.scenarios` says how many checks of each scenario have to succeed; `suite.beyond` names the scenarios of an
// extension that the server does not have, or need not, which are run by the suite and reported here, but judged by nobody.
export function judge(suite, checks) {
  const names = new Set([...Object.keys(suite.scenarios), ...checks.keys()]);
  const rows = [...names].map((name) => row(name, suite, checks.get(name)));
  const judged = rows.filter((row) => row.judged);
  return { rows, judged: judged.length, passed: judged.filter((row) => row.good).length, good: judged.every((row) => row.good) };
}

function row(name, suite, checks) {
  const judged = !Object.hasOwn(suite.beyond ?? {}, name);
  const counts = { passed: 0, failed: 0, warnings: 0, skipped: 0 };
  // What is neither, such as the log of an exchange, is no check.
  for (const { status } of checks ?? []) if (status in statuses) counts[statuses[status]] += 1;
  const total = counts.passed + counts.failed + counts.warnings + counts.skipped;
  const remark = judged ? complaint(suite.scenarios[name], checks, counts) : `not judged: ${suite.beyond[name]}`;
  return { name, judged, good: remark === "", total, ...counts, remark, troubles: judged ? troubles(checks ?? []) : [] };
}

function complaint(wanted, checks, counts) {
  if (checks === undefined) return "did not run";
  if (wanted === undefined) return "is not in expected/suites.json";
  if (counts.failed + counts.warnings + counts.skipped > 0) return "not all passed";
  if (counts.passed !== wanted) return `${wanted} checks have to pass`;
  return "";
}

function troubles(checks) {
  return checks
    .filter(({ status }) => status in statuses && status !== "SUCCESS")
    .map(({ id, status, description, errorMessage, details }) => ({ id, status, description, errorMessage, details }));
}
