import { residentMb } from "../../bench/with-scheduler.ts";
import { filesBelow } from "../../helpers/files-below.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt } from "../files/live.ts";
import { isLong } from "../../helpers/long.ts";

/** How much each agent prints, in MB: AL_FLOOD_MB=10000 is the whole flood. */
const floodMb = Number(process.env.AL_FLOOD_MB ?? (isLong ? "1000" : "100"));
const flood = `yes "$(head -c 1000 /dev/zero | tr '\\0' y)" | head -c ${floodMb}000000`;
const endless = `head -c ${floodMb}000000 /dev/zero | tr '\\0' z`;
const timeoutMs = 60_000 + floodMb * 100;
const hook = (command: string) => `hooks.pre = [${JSON.stringify(`${command}; al-exit`)}]\n`;

test.each([
  ["in a hook", hook(flood), /more lines of output left out/],
  ["in one line without an end", hook(endless), /z{100}/],
  ["in a tool of its model", "", /y{100}/],
])(
  "an agent that floods %s uses bounded memory and disk",
  async (where, config, traces) => {
    const project = new LiveProject(await webhookProject({ loud: dueAt(1, config) }));
    const tool = `name = "bash"\narguments = { command = ${JSON.stringify(flood)} }`;
    const turns = `[[turns]]\n[[turns.tools]]\n${tool}\n[[turns]]\ntext = "done"\n`;
    await project.write("done.script.toml", turns);
    const { pid } = await project.start();
    const before = await residentMb(pid);
    await project.trigger("loud");
    let most = before;
    const outcome = async () => {
      most = Math.max(most, await residentMb(pid));
      const { lastOutcome, running } = (await project.agent("loud")) ?? {};
      return running === 0 ? lastOutcome : null;
    };
    await expect.poll(outcome, { timeout: timeoutMs, interval: 100 }).toBe("succeeded");
    expect(most - before).toBeLessThan(100);
    const files = [...(await filesBelow(project.path("..")))];
    const kept = files.reduce((sum, [, text]) => sum + text.length, 0) / 1_000_000;
    expect(kept).toBeLessThan(10);
    process.stdout.write(
      `${where}: +${(most - before).toFixed(0)} MB, ${kept.toFixed(1)} MB kept\n`,
    );
    const logs = files.filter(([path]) => path.includes(".al/logs/loud-"));
    const lines = logs.flatMap(([, text]) => text.split("\n"));
    expect(lines.join("\n")).toMatch(traces);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(32 * 1024);
  },
  timeoutMs,
);
