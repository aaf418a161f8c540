import { interpretStored, parseDelivery } from "../../../../src/features/webhooks/interpret.ts";
import { signDelivery } from "../../../../src/features/webhooks/sign.ts";
import { bytes, providerOf, read } from "../deliveries.ts";
import { slackBlockActions, slackCommand } from "../payloads.ts";
import { TestReceiver, source, start } from "../test-receiver.ts";

test("a Slack slash command and an interactive payload are read as events", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const slack = providerOf("slack");
  const parse = (text: string, headers: Record<string, string> = form) => {
    const parsed = parseDelivery(slack, { headers, body: bytes(text) });
    if (!parsed.ok) throw new Error(parsed.why);
    return parsed.payload;
  };
  const command = parse(slackCommand);
  expect(read("slack", command)).toMatchObject({
    event: { event: "slash_command", action: "/webhook-collect", sender: "U2CERLKJA" },
    attributes: { channels: "G8PSS9T3V", teams: ["T1DC2JH3J"], senderIsBot: false },
  });
  expect(slack.deliveryId(command, form)).toMatch(/^398738663015\./);
  const encoded = encodeURIComponent(JSON.stringify(slackBlockActions));
  expect(read("slack", parse(`payload=${encoded}`))).toMatchObject({
    event: { event: "block_actions", action: "WaXA", sender: "UA8RXUSPL", body: "click_me_123" },
    attributes: { channels: "CBR2V3XEX", teams: ["T9TK3CUKW"], senderIsBot: false },
  });
  expect(slack.answerPing?.(parse("ssl_check=1&token=x"), form)).toEqual({});
  expect(() => parse("payload=%7B")).toThrow("no field `payload`");
  expect(() => parse(slackCommand, {})).toThrow("not a JSON object");
});

test("a Slack delivery in a form gets the empty response that Slack requires, and can be replayed", async () => {
  const receiver = new TestReceiver();
  receiver.sources = [source("chat", { type: "slack" })];
  receiver.secrets = new Map([["chat", ["hush"]]]);
  const body = bytes(slackCommand);
  const signed = signDelivery("slack", "hush", body, start);
  const headers = { ...signed, "content-type": "application/x-www-form-urlencoded" };
  const delivery = { type: "slack", source: null, headers, body };
  expect(await receiver.receive(delivery)).toEqual({ status: 200, body: null });
  expect(receiver.accepted).toHaveLength(1);
  const receipt = receiver.accepted[0]?.receipt;
  expect(receipt && interpretStored(receipt, {})?.event.event).toBe("slash_command");
});
