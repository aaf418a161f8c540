import { LiveProject } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });

test("examples/report keeps the files of a run, hands them to the caller, and writes them to this machine", async () => {
  const project = await LiveProject.copy("examples/report");
  await project.start();
  const printed = await project.print("run", "publisher", "--json");
  const headline = "Tea is up, coffee is down";
  expect(JSON.parse(printed)).toMatchObject({ outcome: "succeeded", value: { headline } });
  expect(await project.print("files", "reporter")).toMatch(
    /prices\.csv +\d+ bytes +text[^]*report\.md +\d+ bytes +text/,
  );
  expect(await project.print("get", "publisher", "summary.md", "-o", "-")).toBe(
    `This week: ${headline}.\n`,
  );
  await project.print("get", "reporter", "-o", project.path("copied"));
  expect(await project.read("copied/report.md")).toMatch(`# ${headline}`);
  const again = await project.al("get", "reporter", "report.md", "-o", project.path("copied"));
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("--force")]);
});
