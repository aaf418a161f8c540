import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { agentConfig, ward, store, writeState } from "./support.ts";
import { like } from "../../helpers/like.ts";

test("the doctor finds no error in a healthy project, and changes nothing", async () => {
  const before = ward.fingerprint();
  const found = await ward.runChecks();
  expect(found.filter(({ severity }) => !["ok", "note"].includes(severity))).toEqual([]);
  expect(ward.fingerprint()).toBe(before);
});

test("the doctor describes in words when an agent runs", async () => {
  const [schedule] = await ward.found("schedules");
  const what = schedule?.what ?? "";
  expect(what).toContain("dev: At 09:00, Monday through Friday (Europe/Berlin); next ");
  expect(what.match(/(Mon|Tue|Wed|Thu|Fri) \d+ [A-Z][a-z]+ 09:00/g)).toHaveLength(3);
});

test("the doctor describes each of an agent's schedules, and warns of calendars that leave out every run or are over", async () => {
  ward.toProject(
    '[calendars.past]\ndates = ["2020-01-01"]\n[calendars.always]\nwindows = ["Mon 00:00-Mon 00:00"]',
  );
  const entry = (name: string, calendar: string) =>
    `[[schedules]]\nname = "${name}"\ncron = "0 6 * * *"\ncalendar = ${calendar}\n`;
  ward.toAgent(
    `${entry("nightly", '{ skip = ["past"] }')}${entry("frozen", '{ skip = ["always"] }')}`,
  );
  const found = (await ward.found("schedules")).map(({ severity, what }) => `${severity}: ${what}`);
  expect(found).toEqual([
    like(/^ok: dev: At 09:00/),
    like(/^ok: dev nightly: At 06:00 \(Europe\/Berlin\); next (\w+ \d+ \w+ 06:00(, )?){3}$/),
    like(/^ok: dev frozen: At 06:00 \(Europe\/Berlin\); next never$/),
    "warning: dev frozen: its calendars leave out all of its runs",
    "warning: the calendar past has no day after 2020-01-01",
  ]);
});

test("the doctor prints a line for each of ten agents, and one line for the others", async () => {
  const [config, skill] = ["config.toml", "SKILL.md"].map((file) =>
    readFileSync(join(ward.dir, "agents/dev", file), "utf8"),
  );
  const add = (name: string) => {
    ward.write(`agents/${name}/config.toml`, config ?? "");
    ward.write(`agents/${name}/SKILL.md`, skill ?? "");
  };
  const linesOf = async (check: string) => (await ward.found(check)).map(({ what }) => what);
  for (let index = 1; index < 10; index++) add(`a${index}`);
  expect(await linesOf("schedules")).toHaveLength(10);
  expect((await linesOf("agents"))[0]).toBe("a1, a2, a3, a4, a5, a6, a7, a8, a9, dev");
  add("b1");
  expect(await linesOf("agents")).toEqual(["11 agents"]);
  expect((await linesOf("host users"))[0]).toMatch(
    /^11 agents run as your user and can read your files/,
  );
  expect(await linesOf("schedules")).toEqual([
    like(
      /^there are 11 schedules \(al schedule.*\); next a1 (Mon|Tue|Wed|Thu|Fri) .* 09:00 \(Europe/,
    ),
  ]);
});

test("the doctor's repairs write missing or outdated editor schemas", async () => {
  const ofEditor = (repair: boolean) => ward.found("editor", { repair });
  const missing = /^\.al\/schema\/project\.json and \.al\/schema\/agent\.json: missing/;
  expect(await ofEditor(false)).toMatchObject([
    { severity: "note", fix: like(/^al doctor/), what: like(missing) },
  ]);
  expect(await ofEditor(true)).toMatchObject([{ severity: "fixed" }, { severity: "ok" }]);
  writeState("schema/agent.json", "{}\n");
  expect(await ofEditor(false)).toMatchObject([
    { what: like(/^\.al\/schema\/agent\.json: missing or of another version/) },
  ]);
});

test("the doctor's repairs make files private again, and create API key and editor schemas", async () => {
  chmodSync(store("github_token", "default", "token"), 0o644);
  chmodSync(join(ward.dir, agentConfig), 0o666);
  rmSync(store("gateway_api_key"), { recursive: true });
  const repaired = (await ward.runChecks({ repair: true })).map(({ severity }) => severity);
  expect(repaired.filter((severity) => severity === "fixed")).toHaveLength(4);
  expect(repaired).not.toContain("error");
  expect(repaired).not.toContain("warning");
  expect(await ward.runChecks()).not.toContainEqual(expect.objectContaining({ severity: "fixed" }));
});

test("on macOS the doctor creates no OS user but prints the commands for it", async () => {
  ward.edit(agentConfig, '"$USER"', '"al-agent"');
  const [user] = await ward.found("host users", { platform: "darwin", repair: true });
  expect(user).toMatchObject({ severity: "note", fix: like(/^sudo visudo -f \//) });
  expect(user?.what).toMatch(/sysadminctl -addUser al-agent .+with sudo visudo -f:\n# Almanac: /);
  expect(user?.what).toContain(`_run-agent [a-z0-9]* --project ${ward.dir}\n`);
});

test("the doctor's fix for a dead scheduler removes only folders of schedulers", async () => {
  const info = { pid: 1, startedAt: new Date().toISOString() };
  const fixFor = async (socketPath: string | null) => {
    writeState("run/scheduler.json", JSON.stringify({ ...info, socketPath }));
    return (await ward.found("scheduler"))[0]?.fix;
  };
  const path = join(ward.dir, ".al/run/scheduler.json");
  expect(await fixFor("/tmp/al-x1Y2z3/operator.sock")).toBe(`rm -rf /tmp/al-x1Y2z3 ${path}`);
  for (const other of ["/etc/operator.sock", "/tmp/mine/operator.sock", "/operator.sock", null]) {
    expect(await fixFor(other)).toBe(`rm -rf ${path}`);
  }
});
