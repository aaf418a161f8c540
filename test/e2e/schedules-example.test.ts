import { LiveProject, slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });

test("examples/schedules skips bank holidays, follows its calendar file, and hands prompt and params of a schedule to its run", async () => {
  const project = await LiveProject.copy("examples/schedules");
  await project.edit("agents/report/config.toml", '"0 7 * * Mon-Fri"', '"* * * * *"');
  await project.edit("agents/report/config.toml", ', "freeze"', "");
  await project.start();
  const run = async () =>
    (await project.history()).find(({ source, outcome }) => source === "morning" && outcome);
  await expect.poll(run, { timeout: 90_000 }).toMatchObject({ outcome: "succeeded" });
  const prompt = await project.print("show", (await run())?.instanceId ?? "", "--prompt");
  expect(prompt).toMatch(
    /"days": 1[^]*schedule "morning"[^]*Report what changed since yesterday\./,
  );
  const next = async () => project.print("schedule", "report", "--days", "366");
  expect(await project.print("schedule")).toMatch(/report +\w+ +\w+ .* Europe\/London/);
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const event = `BEGIN:VEVENT\r\nUID:1\r\nDTSTART;VALUE=DATE:${today}\r\nDTEND;VALUE=DATE:20990101\r\nSUMMARY:Sabbatical\r\nEND:VEVENT\r\n`;
  await project.edit("bank-holidays.ics", "END:VCALENDAR", `${event}END:VCALENDAR`);
  await expect.poll(next, slowly).toMatch(/morning .*calendar bank-holidays: Sabbatical/);
  expect(await project.print("history", "--agent", "report", "--refused", "--json")).toMatch(
    /Schedule morning: .* left out by calendar bank-holidays: Sabbatical\./,
  );
});
