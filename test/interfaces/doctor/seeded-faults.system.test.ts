import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { configFaults } from "./config-faults.ts";
import { fileFaults } from "./file-faults.ts";
import { machineFaults } from "./machine-faults.ts";
import { rootFaults } from "./root-faults.ts";
import { secretFaults } from "./secret-faults.ts";
import { ward } from "./support.ts";

const faults = [...configFaults, ...secretFaults, ...fileFaults, ...machineFaults, ...rootFaults()];

test.each(faults)("the doctor finds $name and names a fix that works", async (fault) => {
  await fault.seed();
  const isIt = ({ severity, what }: CheckFinding) =>
    severity === fault.severity && fault.says.test(what);
  const before = ward.fingerprint();
  const findings = await ward.runChecks();
  const finding = findings.find(isIt);
  expect(finding?.fix, JSON.stringify(findings)).toMatch(fault.fix);
  expect(ward.fingerprint()).toBe(before);
  if (finding === undefined) return;
  await (fault.repair === undefined ? ward.run(finding.fix ?? "") : fault.repair(finding));
  const isBad = ({ severity, check }: CheckFinding) =>
    check === finding.check && ["error", "warning"].includes(severity);
  expect((await ward.runChecks()).filter(isBad)).toEqual([]);
});
