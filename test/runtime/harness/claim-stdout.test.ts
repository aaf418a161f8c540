import { execFile } from "node:child_process";
import { promisify } from "node:util";

test("a run's standard output contains only messages to the scheduler; output of libraries goes to standard error", async () => {
  const module = new URL("../../../src/runtime/harness/message-writer.ts", import.meta.url).href;
  const program = `
    const { claimStdout } = await import(${JSON.stringify(module)});
    const output = claimStdout();
    console.log("from console");
    process.stdout.write("from a library\\n");
    output.write("message\\n");`;
  const args = ["--input-type=module", "--eval", program];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe("message\n");
  expect(stderr).toBe("from console\nfrom a library\n");
});
