import { otlpCollector } from "../../helpers/otlp-collector.ts";
import { ward } from "./support.ts";

const found = async () => (await ward.runChecks()).filter(({ check }) => check === "telemetry");

test("the collector of [telemetry] is asked with its credential, which may be missing or malformed", async () => {
  const { url, seen, spans, faults, close } = await otlpCollector();
  const { host } = new URL(url);
  ward.edit(
    "config.toml",
    "[gateway]",
    `[telemetry]\notlp = "${url}"\nheaders = "otlp_headers"\n[gateway]`,
  );
  const where = "config.toml [telemetry]";
  const missing = { severity: "error", where, fix: "al creds add otlp_headers" };
  expect(await found()).toMatchObject([missing]);
  await ward.credential("otlp_headers", "headers", "x-team ops");
  const what = "header 1 of the collector's credential is not name=value";
  expect(await found()).toMatchObject([{ severity: "error", what, where }]);
  expect(seen.requests).toBe(0);

  await ward.credential("otlp_headers", "headers", "x-team=ops%20a");
  expect(await found()).toMatchObject([
    { severity: "ok", what: `the collector ${host} accepts spans` },
  ]);
  expect(seen.headers).toMatchObject({ "x-team": "ops a" });
  expect(spans).toEqual([]);
  faults.status = 401;
  const refused = `the collector ${host} does not accept spans: it answers with status 401`;
  expect(await found()).toMatchObject([{ severity: "warning", what: refused, where }]);
  await close();
  const gone = `the collector ${host} does not accept spans: ECONNREFUSED`;
  expect(await found()).toMatchObject([{ severity: "warning", what: gone, where }]);

  ward.edit("config.toml", url, "http://127.collector.invalid:4318");
  const clear =
    "headers go unencrypted to 127.collector.invalid:4318: who is on the way can read them";
  expect((await found())[0]).toMatchObject({ severity: "warning", what: clear, where });
});
