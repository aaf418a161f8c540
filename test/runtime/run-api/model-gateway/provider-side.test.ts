import { passing, refused } from "./beyond-answer.ts";
import { emptyAnswer, post, startWire } from "./support.ts";
import type { Wire } from "./wires/wire.ts";

async function ask(wire: Wire, more: object, providerTools: readonly string[] = []) {
  const { provider, gateway, plainUrl } = await startWire(wire, emptyAnswer, {
    model: { providerTools },
  });
  const reply = await post(plainUrl, { ...wire.plainBody, ...more });
  return { reply, asked: provider.asked.length, planned: gateway.meter.plans.length };
}

test.each(refused)(
  "the model gateway rejects a provider-side feature unless providerTools lists it: $title",
  async ({ wire, name, more }) => {
    const { reply, asked, planned } = await ask(wire, more);
    expect({ status: reply.status, asked, planned }).toEqual({ status: 403, asked: 0, planned: 0 });
    expect(reply.headers["x-should-retry"]).toBe("false");
    expect(reply.text).toContain(JSON.stringify(`"${name}"`).slice(1, -1));
    expect(reply.text).toContain("providerTools");
    expect(await ask(wire, more, [name])).toMatchObject({ reply: { status: 200 }, asked: 1 });
  },
);

test.each(passing)(
  "the model gateway forwards a request with client-side tools and data: $title",
  async (wire, more) => expect((await ask(wire, more)).reply.status).toBe(200),
);
