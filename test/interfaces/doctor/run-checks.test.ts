import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { agentConfig } from "./fault.ts";
import { ward, runInContainer, store, writeState } from "./support.ts";

test("the doctor finds no error in a healthy project, and changes nothing", async () => {
  const before = ward.fingerprint();
  const found = await ward.runChecks();
  expect(found.filter(({ severity }) => !["ok", "note"].includes(severity))).toEqual([]);
  expect(ward.fingerprint()).toBe(before);
});

test("the doctor describes in words when an agent runs", async () => {
  const found = await ward.runChecks();
  const { what = "" } = found.find(({ check }) => check === "schedules") ?? {};
  expect(what).toContain("dev: At 09:00, Monday through Friday (Europe/Berlin); next ");
  expect(what.match(/(Mon|Tue|Wed|Thu|Fri) \d+ [A-Z][a-z]+ 09:00/g)).toHaveLength(3);
});

test("the doctor has a line for each of ten agents, and one for the others", async () => {
  const read = (file: string) => readFileSync(join(ward.dir, "agents/dev", file), "utf8");
  const [config, skill] = [read("config.toml"), read("SKILL.md")];
  const add = (name: string) => {
    ward.write(`agents/${name}/config.toml`, config);
    ward.write(`agents/${name}/SKILL.md`, skill);
  };
  const linesOf = async (check: string) =>
    (await ward.runChecks()).filter((one) => one.check === check).map(({ what }) => what);
  for (let index = 1; index < 10; index++) add(`a${index}`);
  expect(await linesOf("schedules")).toHaveLength(10);
  expect((await linesOf("agents"))[0]).toBe("a1, a2, a3, a4, a5, a6, a7, a8, a9, dev");
  add("b1");
  expect(await linesOf("agents")).toEqual(["11 agents"]);
  expect((await linesOf("host users"))[0]).toMatch(/^nothing keeps 11 agents from your own files/);
  const [line, ...others] = await linesOf("schedules");
  expect(others).toEqual([]);
  expect(line).toMatch(
    /^11 agents have a schedule \(al stat.*\); next a1 (Mon|Tue|Wed|Thu|Fri) .* 09:00 \(Europe/,
  );
});

test("the doctor notes that an agent of your own user can read your files", async () => {
  const found = await ward.runChecks();
  expect(found).toContainEqual(
    expect.objectContaining({
      check: "host users",
      severity: "note",
      what: expect.stringContaining("nothing keeps dev from your own files") as string,
    }),
  );
});

test("the doctor's repairs write missing or old editor schemas, and change nothing without repair", async () => {
  const ofEditor = async (repair: boolean) =>
    (await ward.runChecks({ repair })).filter(({ check }) => check === "editor");
  const [missing] = await ofEditor(false);
  expect(missing?.severity).toBe("note");
  expect(missing?.fix).toMatch(/^al doctor/);
  expect(missing?.what).toMatch(
    /^\.al\/schema\/project\.json and \.al\/schema\/agent\.json: missing/,
  );
  expect(await ofEditor(true)).toMatchObject([{ severity: "fixed" }, { severity: "ok" }]);
  writeState("schema/agent.json", "{}\n");
  const [old] = await ofEditor(false);
  expect(old?.what).toMatch(/^\.al\/schema\/agent\.json: missing or of another version/);
});

test("the doctor's repairs close open files, make the key, write the editor's schemas, and report that", async () => {
  chmodSync(store("github_token", "default", "token"), 0o644);
  chmodSync(join(ward.dir, agentConfig), 0o666);
  rmSync(store("gateway_api_key"), { recursive: true });
  const found = await ward.runChecks({ repair: true });
  expect(found.filter(({ severity }) => severity === "fixed")).toHaveLength(4);
  expect(found.filter(({ severity }) => ["error", "warning"].includes(severity))).toEqual([]);
  expect(await ward.runChecks()).not.toContainEqual(expect.objectContaining({ severity: "fixed" }));
});

test("the default image of another project or version is distinguished from this project's own", async () => {
  await runInContainer({}, 'image = "al-agent:latest"');
  const found = await ward.runChecks();
  expect(found.find(({ what }) => what.startsWith("image "))).toMatchObject({
    severity: "note",
    what: expect.stringMatching(
      /^image al-agent:\S+-[0-9a-f]{12} is built when the scheduler starts; al-agent:latest is that of another project or another version$/,
    ) as string,
  });
});

test("containers of a scheduler that is gone are found by their runs", async () => {
  const left = [{ Id: "0123456789abcdef", Labels: { "al.instance": "dev-abcd2345" } }];
  await runInContainer({ "/containers/json": left });
  const taken = (await ward.runChecks()).find(({ check }) => check === "containers");
  expect(taken?.what).toContain("left 1: dev-abcd2345");
  expect(taken?.fix).toMatch(/^al start/);
});

test("on macOS the doctor creates no OS user and names how a person does", async () => {
  ward.edit(agentConfig, '"$USER"', '"al-agent"');
  const found = await ward.runChecks({ platform: "darwin", repair: true });
  const [user] = found.filter(({ check }) => check === "host users");
  expect(user).toMatchObject({
    severity: "note",
    fix: expect.stringMatching(/^sudo visudo -f \//) as string,
  });
  expect(user?.what).toMatch(/sysadminctl -addUser al-agent .+by sudo visudo -f:\n# Almanac: /);
  expect(user?.what).toContain(`_run-agent [a-z0-9]* --project ${ward.dir}\n`);
});

test("the remains of a dead scheduler are removed with its own folder, and no other folder", async () => {
  const info = { pid: 1, startedAt: new Date().toISOString() };
  const fixFor = async (socketPath: string | null) => {
    writeState("run/scheduler.json", JSON.stringify({ ...info, socketPath }));
    return (await ward.runChecks()).find(({ check }) => check === "scheduler")?.fix;
  };
  const path = join(ward.dir, ".al/run/scheduler.json");
  expect(await fixFor("/tmp/al-x1Y2z3/operator.sock")).toBe(`rm -rf /tmp/al-x1Y2z3 ${path}`);
  for (const other of ["/etc/operator.sock", "/tmp/mine/operator.sock", "/operator.sock", null]) {
    expect(await fixFor(other)).toBe(`rm -rf ${path}`);
  }
});
