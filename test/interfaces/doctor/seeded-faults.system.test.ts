import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { configFaults } from "./config-faults.ts";
import { fileFaults } from "./file-faults.ts";
import { machineFaults } from "./machine-faults.ts";
import { rootFaults } from "./root-faults.ts";
import { secretFaults } from "./secret-faults.ts";
import { ward } from "./support.ts";

const faults = [...configFaults, ...secretFaults, ...fileFaults, ...machineFaults, ...rootFaults()];

test.each(faults)('the fix for the doctor\'s $severity "$says" works', async (fault) => {
  await fault.seed();
  const { severity, says } = fault;
  const isIt = ({ what }: CheckFinding) =>
    typeof says === "string" ? what.includes(says) : says.test(what);
  const before = ward.fingerprint();
  const findings = await ward.runChecks();
  const finding = findings.find((each) => each.severity === severity && isIt(each));
  expect(finding?.fix, JSON.stringify(findings)).toMatch(fault.fix);
  expect(ward.fingerprint()).toBe(before);
  if (finding === undefined) return;
  await (fault.repair === undefined ? ward.run(finding.fix ?? "") : fault.repair(finding));
  const left = await ward.found(finding.check);
  expect(left.filter((each) => ["error", "warning"].includes(each.severity))).toEqual([]);
});
