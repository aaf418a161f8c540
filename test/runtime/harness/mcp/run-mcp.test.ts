import { fileURLToPath } from "node:url";
import { createRunMcp } from "../../../../src/runtime/harness/mcp/run-mcp.ts";
import type { Log } from "../run-entry.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const fickle = fileURLToPath(new URL("./fickle-server.ts", import.meta.url));

/** The MCP servers of a run, of which `hub` is the program; the function calls its tools. */
function started(command = [process.execPath, fickle], timeoutSeconds = 60) {
  const logs: string[] = [];
  const mcp = createRunMcp([{ name: "hub", command, tools: ["*"], timeoutSeconds }], {
    requests: { perform: () => Promise.resolve({ ok: true }) },
    emit: (message) => void logs.push(`${(message as Log).level} ${(message as Log).msg}`),
    workDir: tempDir(),
  });
  onTestFinished(() => mcp[Symbol.asyncDispose]());
  mcp.start({ PATH: process.env.PATH ?? "" });
  const { signal } = new AbortController();
  const call = async (tool: string): Promise<string> => {
    const asked = { server: "hub", tool, arguments: {} };
    const { content } = await mcp.requests.perform("mcp-call", asked, signal);
    return (content as readonly { readonly text: string }[])[0]?.text ?? "";
  };
  const tools = () => mcp.requests.perform("mcp-tools", { server: "hub" }, signal);
  return { call, logs, tools };
}

const early = "its program ended before it answered";

test.each([
  [
    "console.error('Traceback:\\nAttributeError: no x'); process.exit(1)",
    `${early}: AttributeError: no x`,
  ],
  ["process.exit(1)", early],
  ["", "spawn /no/mcp ENOENT"],
  ["throw new TypeError('no y')", `${early}: TypeError: no y`],
  ["console.error('z'.repeat(2 ** 20) + '\\nno port'); process.exitCode = 2", `${early}: no port`],
  ["console.error('waits'); setInterval(() => 1, 1e9)", "no answer within 2 s: waits"],
])(
  "the log has the last error line of an MCP program that fails to start: %s",
  async (code, why) => {
    const { logs, tools } = started(code === "" ? ["/no/mcp"] : [process.execPath, "-e", code], 2);
    expect(await tools()).toMatchObject({ ok: true, tools: [], problem: why });
    expect(logs).toEqual([`40 the MCP server hub can't be used: ${why}`]);
  },
);

test("a response of an MCP program that is too long fails only that call; the program continues", async () => {
  const { call } = started();
  const pid = await call("pid");
  expect(pid).toMatch(/^\d+$/);
  const calls = ["long", "long-id-first", "pid"].map(call);
  const tooLong = "the MCP server hub failed: its answer is longer than 4 MiB";
  expect(await Promise.all(calls)).toEqual([tooLong, tooLong, pid]);
  expect(await call("pid")).toBe(pid);
});

test("a call of an MCP program that answers null is done, without content", async () => {
  expect(await started().call("null")).toBe("");
});

test("the next call restarts an MCP program that ended, at most three times; no call is repeated", async () => {
  const { call, logs } = started();
  const pids = new Set<string>();
  for (let times = 0; times <= 3; times += 1) {
    pids.add(await call("pid"));
    expect(await call("crash")).toContain("Connection closed: Traceback: out of luck");
  }
  expect(pids.size).toBe(4);
  const again = logs.filter((line) => line.includes("started again"));
  expect(again).toEqual(
    [1, 2, 3].map(
      (count) =>
        `40 the MCP server hub ended, and is started again (${count} of 3): Traceback: out of luck`,
    ),
  );
  expect(await call("pid")).toContain("its program ended 4 times in this run: Traceback");
});
