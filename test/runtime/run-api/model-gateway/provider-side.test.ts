import { passing, refused } from "./beyond-answer.ts";
import { emptyAnswer, post, startWire } from "./support.ts";
import type { Wire } from "./wires/wire.ts";

async function ask(wire: Wire, more: object, providerTools: readonly string[] = []) {
  const { provider, gateway, plainUrl } = await startWire(wire, emptyAnswer, {
    model: { providerTools },
  });
  const reply = await post(plainUrl, { ...wire.plainBody, ...more });
  return { reply, asked: provider.asked, plans: gateway.meter.plans };
}

test.each(refused)(
  "an action of the provider outside of the run is rejected: %$",
  async (wire, name, more) => {
    const { reply, asked, plans } = await ask(wire, more);
    expect(reply.status).toBe(403);
    expect(reply.headers["x-should-retry"]).toBe("false");
    expect(reply.text).toContain(JSON.stringify(`"${name}"`).slice(1, -1));
    expect(reply.text).toContain("providerTools");
    expect(asked).toEqual([]);
    expect(plans).toEqual([]);
  },
);

test.each(refused)(
  "an action of the provider outside of the run passes when the config names it: %$",
  async (wire, name, more) => {
    const { reply, asked } = await ask(wire, more, [name]);
    expect(reply.status).toBe(200);
    expect(asked).toHaveLength(1);
  },
);

test.each(passing)(
  "an action of the provider outside of the run is not confused with a tool of the client, or with data: %$",
  async (wire, more) => expect((await ask(wire, more)).reply.status).toBe(200),
);
