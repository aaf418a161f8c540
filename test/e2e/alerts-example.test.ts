import { spawn, type ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { LiveProject } from "../helpers/live-project.ts";

let project: LiveProject;
let receiver: ChildProcess;
let printed: string;
let url: string;

beforeEach(async () => {
  project = await LiveProject.copy("examples/alerts");
  await startReceiver();
});
afterEach(() => void receiver.kill());

/** As its README says, on any free port. */
async function startReceiver(): Promise<void> {
  printed = "";
  const child = spawn(process.execPath, [join(project.dir, "receiver.mjs"), "--port", "0"], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  receiver = child;
  await expect.poll(() => printed).toMatch(/^receives at http:\S+;/);
  url = /http:\/\/localhost:\d+/.exec(printed)?.[0] ?? "";
}

describe("examples/alerts", () => {
  beforeEach(async () => {
    for (const file of ["config.toml", "agents/prices/config.toml"]) {
      await project.edit(file, "http://localhost:8090", url);
    }
    await project.start();
  });
  const run = async (agent: string) => (await project.al("run", agent)).code;

  test("a failure is alerted once, and so is its end; heartbeats show both", async () => {
    expect(await run("prices")).toBe(1);
    await expect
      .poll(() => printed)
      .toMatch(/opened {4}prices failed\n +Why: .*prices.txt is empty/);
    expect(await run("prices")).toBe(1);
    await project.write("agents/prices/assets/prices.txt", "9.50\n");
    const { stdout } = await project.al("run", "prices", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ value: 9.5 });
    await expect.poll(() => printed).toMatch(/resolved {2}prices recovered/);
    expect(printed.match(/opened/g)).toHaveLength(1);
    await expect.poll(() => printed).toMatch(/heartbeat the scheduler: is well/);
    const pings = [...printed.matchAll(/heartbeat prices: (\w+)/g)].map(([, ping]) => ping);
    expect(pings).toEqual(expect.arrayContaining(["start", "fail", "start", "succeeded"]));
    expect(printed).not.toContain("refused");
  }, 60_000);

  test("a run that returned nothing or an unexpected value has failed", async () => {
    expect(await run("quiet")).toBe(1);
    await expect.poll(() => printed).toMatch(/quiet failed\n +Why: nothing returned/);
    expect(await run("orders")).toBe(1);
    await expect.poll(() => printed).toMatch(/orders failed\n +Why: .*total/);
  }, 60_000);

  test("an alert waits for an unreachable receiver, and a test alert is sent at once", async () => {
    receiver.kill();
    expect(await run("prices")).toBe(1);
    await startReceiver();
    const answer = await project.post("/api/alerts/targets/receiver/test");
    expect(await answer.json()).toEqual({ accepted: true, error: null });
    await expect.poll(() => printed).toMatch(/opened {4}Test alert/);
    await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/opened {4}prices failed/);
  }, 60_000);
});

describe("its receiver", () => {
  const alert = { phase: "opened", title: "dev failed", lines: [], url: null };
  const body = JSON.stringify({ type: "alert.opened", data: alert });

  async function sent(id: string, text: string, { at = new Date(), secret = "" } = {}) {
    const file = join(project.home, "credentials/alert_webhook/example/secret");
    const signer = new Webhook(secret === "" ? (await readFile(file, "utf8")).trim() : secret);
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": `v1,AAAA ${signer.sign(id, at, body)}`,
    };
    return (await fetch(`${url}/alerts`, { method: "POST", headers, body: text })).status;
  }

  test("the receiver of examples/alerts prints each signed alert once", async () => {
    expect(await sent("a", body)).toBe(204);
    expect(await sent("a", body)).toBe(204);
    expect(await sent("b", body)).toBe(204);
    await expect.poll(() => printed.match(/opened {4}dev failed/g)).toHaveLength(2);
  });

  test("the receiver of examples/alerts rejects another secret, another text and another time", async () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
    expect(await sent("a", body, { secret })).toBe(401);
    expect(await sent("a", body.replace("dev", "pro"))).toBe(401);
    expect(await sent("a", body, { at: new Date(Date.now() - 600_000) })).toBe(401);
    expect(await sent("a", body, { at: new Date(NaN) }).catch(() => 401)).toBe(401);
    await expect.poll(() => printed).toContain("refused   its time is not now");
    expect(printed).not.toContain("dev failed");
  });
});
