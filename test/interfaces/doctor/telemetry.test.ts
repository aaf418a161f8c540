import { otlpCollector } from "../../helpers/otlp-collector.ts";
import { ward } from "./support.ts";

test("the doctor tests the collector of [telemetry] with the credential", async () => {
  const { url, seen, spans, faults, close } = await otlpCollector();
  const { host } = new URL(url);
  const finds = async (severity: string, expected: object) =>
    expect(await ward.found("telemetry")).toMatchObject([{ severity, ...expected }]);
  const where = "config.toml [telemetry]";
  ward.toProject(`[telemetry]\notlp = "${url}"\nheaders = "otlp_headers"`);
  await finds("error", { where, fix: "al creds add otlp_headers" });
  await ward.credential("otlp_headers", "headers", "x-team ops");
  const what = "header 1 of the collector's credential is not name=value";
  await finds("error", { what, where });
  expect(seen.requests).toBe(0);

  await ward.credential("otlp_headers", "headers", "x-team=ops%20a");
  await finds("ok", { what: `the collector ${host} accepts spans` });
  expect(seen.headers).toMatchObject({ "x-team": "ops a" });
  expect(spans).toEqual([]);
  faults.status = 401;
  const refused = `the collector ${host} does not accept spans`;
  await finds("warning", { what: `${refused}: it answers with status 401`, where });
  await close();
  await finds("warning", { what: `${refused}: ECONNREFUSED`, where });

  ward.edit("config.toml", url, "http://127.collector.invalid:4318");
  const clear =
    "headers are sent to 127.collector.invalid:4318 unencrypted: others on the network can read them";
  expect((await ward.found("telemetry"))[0]).toMatchObject({
    severity: "warning",
    what: clear,
    where,
  });
});
