import { createLoginLinks, linkUntilUsed } from "../../../src/interfaces/gateway/login-links.ts";

const gatewayUrl = "http://localhost:8080";

function setUp() {
  const world = { at: 1_000_000, key: "the key" };
  const links = createLoginLinks(
    () => world.key,
    () => world.at,
  );
  const create = (): string => links.create(gatewayUrl).url.slice(`${gatewayUrl}/login/`.length);
  return { world, links, create };
}

test("a login link is valid for 10 minutes, and returns its end", () => {
  const { world, links, create } = setUp();
  expect(links.create(gatewayUrl).expiresAt).toBe(new Date(1_600_000).toISOString());
  const token = create();
  world.at += 600_000 - 1;
  expect(links.state(token)).toBe("good");
  world.at += 1;
  expect(links.state(token)).toBe("expired");
});

test("another API key ends all login links", () => {
  const { world, links, create } = setUp();
  const token = create();
  world.key = "another key";
  expect(links.state(token)).toBe("unknown");
});

test("beyond 200 login links the oldest is dropped", () => {
  const { links, create } = setUp();
  const [first, second] = [create(), create()];
  for (let count = 0; count < 199; count++) create();
  expect([links.state(first), links.state(second)]).toEqual(["unknown", "good"]);
});

test("linkUntilUsed returns a login link until it is used or expired", () => {
  const { world, links } = setUp();
  const [used, old] = [linkUntilUsed(links, gatewayUrl), linkUntilUsed(links, gatewayUrl)];
  links.use(used()?.split("/").at(-1) ?? "");
  expect([used(), old()]).toEqual([null, expect.stringContaining(`${gatewayUrl}/login/`)]);
  world.at += 600_000;
  expect(old()).toBeNull();
});
