import { cliProject } from "./fake-operator.ts";

const cli = cliProject();

test.each([
  ["stop", 0, false, "stopped\n", /^$/],
  ["stop", 2, false, "stopped\n", /^stopping: 2 runs may finish within the grace .* --now/],
  ["stop --now --json", 1, true, '{"success":true,"running":1}\n', /^stopping: 1 run ended …\n$/],
])(
  "al %s with %i running runs returns once the scheduler has released the project",
  async (line, running, now, printed, note) => {
    const asked: unknown[] = [];
    await cli.serve({
      "POST /control/stop": ({ body }) => {
        asked.push(body);
        return { success: true, running };
      },
    });
    let isOver = false;
    const ran = cli.al(line).finally(() => (isOver = true));
    await expect.poll(() => asked).toEqual([{ now }]);
    expect(isOver).toBe(false);
    await cli.operator.close();
    const { stdout, stderr } = await ran;
    expect(stdout).toBe(printed);
    expect(stderr).toMatch(note);
  },
);
