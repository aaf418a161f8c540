import { parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { bytes, providerOf, read } from "../deliveries.ts";

test("a GitHub payload in a form field is read like JSON, and any other body is malformed", () => {
  const github = providerOf("github");
  const parse = (body: string, contentType: string, event = "push"): unknown =>
    parseDelivery(github, {
      headers: { "content-type": contentType, "x-github-event": event },
      body: bytes(body),
    });
  const form = "application/x-www-form-urlencoded";
  const payload = { zen: "a&b=ü +%🚀" };
  const encoded = `payload=${encodeURIComponent(JSON.stringify(payload)).replaceAll("%20", "+")}`;
  expect(parse(encoded, form)).toEqual({ ok: true, payload });
  expect(parse(JSON.stringify(payload), "application/json")).toEqual({ ok: true, payload });
  expect(parse("other=1", form)).toMatchObject({ ok: false });
  expect(parse(encoded, "application/json")).toMatchObject({ ok: false });
  expect(parse("{}", "application/json", "")).toMatchObject({ ok: false });
});

test("a long text of a GitHub event is cut with a note that names the stored delivery", () => {
  const { event } = read("github", { issue: { body: "😀".repeat(40_000) } });
  expect(event.body).toContain("receipt r1 contains the whole payload");
  expect(event.body?.isWellFormed()).toBe(true);
  expect(event.body?.length).toBeLessThan(66_000);
});
