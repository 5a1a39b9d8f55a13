// The verdict on a suite, for people.

const columns = ["checks", "passed", "failed", "warnings", "skipped"];

export function print(title, { rows, judged, passed, good }) {
  const width = Math.max(...rows.map(({ name }) => name.length), "scenario".length);
  console.log(["scenario".padEnd(width), ...columns.map((column) => column.padStart(8))].join(" "));
  for (const row of rows) {
    const counts = [row.total, row.passed, row.failed, row.warnings, row.skipped].map((count) => String(count).padStart(8));
    console.log([row.name.padEnd(width), ...counts].join(" ") + (row.remark ? `  ${row.remark}` : ""));
  }
  for (const row of rows.filter(({ troubles }) => troubles.length > 0)) explain(row);
  const checks = rows.filter((row) => row.judged).reduce((sum, row) => sum + row.passed, 0);
  console.log(`${title}: ${passed} of ${judged} scenarios passed, with ${checks} checks${good ? "" : ": NOT AS IT HAS TO BE"}`);
}

function explain({ name, troubles }) {
  for (const { id, status, description, errorMessage, details } of troubles) {
    console.log(`\n${status} ${name}: ${id}\n  ${description}\n  ${errorMessage ?? ""}`);
    if (details !== undefined) console.log(`  ${JSON.stringify(details).slice(0, 2000)}`);
  }
}
