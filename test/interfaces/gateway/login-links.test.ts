import { expect, test } from "vitest";
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

test("a link is good once", () => {
  const { links, create } = setUp();
  const token = create();
  expect(token).toMatch(/^[\w-]{22}$/);
  expect(links.state(token)).toBe("good");
  links.use(token);
  expect(links.state(token)).toBe("used");
});

test("a link is good for 10 minutes, and says until when", () => {
  const { world, links, create } = setUp();
  expect(links.create(gatewayUrl).expiresAt).toBe(new Date(1_600_000).toISOString());
  const token = create();
  world.at += 600_000 - 1;
  expect(links.state(token)).toBe("good");
  world.at += 1;
  expect(links.state(token)).toBe("expired");
});

test("another API key ends all links", () => {
  const { world, links, create } = setUp();
  const token = create();
  world.key = "another key";
  expect(links.state(token)).toBe("unknown");
});

test("of very many links the oldest is forgotten", () => {
  const { links, create } = setUp();
  const [first, second] = [create(), create()];
  for (let count = 0; count < 199; count++) create();
  expect([links.state(first), links.state(second)]).toEqual(["unknown", "good"]);
});

test("a link's address is shown until it is used or old", () => {
  const { world, links } = setUp();
  const [used, old] = [linkUntilUsed(links, gatewayUrl), linkUntilUsed(links, gatewayUrl)];
  links.use(used()?.split("/").at(-1) ?? "");
  expect([used(), old()]).toEqual([null, expect.stringContaining(`${gatewayUrl}/login/`)]);
  world.at += 600_000;
  expect(old()).toBeNull();
});
