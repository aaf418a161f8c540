import { Problem } from "../../../src/foundation/errors.ts";
import { startReceiver } from "./receiver.ts";
import { alerts, messageFor, sendWith, targetOf } from "./samples.ts";

const message = messageFor(alerts.opened);

test("an alert fails with a hint if its credential is missing", async () => {
  const missing = new Problem(
    "missing_credential",
    "credential alert_webhook is missing",
    "al creds add alert_webhook",
  );
  const sendAlert = sendWith({}, { credential: () => Promise.reject(missing) });
  expect(await sendAlert(message, targetOf("webhook"))).toEqual({
    type: "failed",
    error: "credential alert_webhook is missing; al creds add alert_webhook",
    afterMs: null,
  });
});

test.each([150, 170, 185, 195, 280, 290])(
  "the error of an alert shows no part of a secret that stands after %s characters of the response",
  async (before) => {
    const path = "/services/T0AAAAAAA/xoxb-secretsecretsecret";
    const body = `${"x".repeat(before)} s3cret-token ${path}`;
    const { base } = await startReceiver(() => ({ status: 404, body }));
    const redact = (text: string) => text.replaceAll("s3cret-token", "[redacted]");
    const sendAlert = sendWith({ url: `${base}${path}` }, { redact });
    const answer = await sendAlert(message, targetOf("slack"));
    const error = answer.type === "accepted" ? "" : answer.error;
    expect(error).not.toMatch(/s3cret|T0A|xoxb/);
    expect(error.length).toBeLessThanOrEqual(300);
  },
);
