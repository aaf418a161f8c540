import { networkInterfaces } from "node:os";
import { addressProblem, ownAddresses } from "../../../../src/runtime/run-api/egress/addresses.ts";

const rules = { port: 443, ownPort: 8080, own: new Set<string>(["192.168.7.7", "198.51.100.9"]) };
const open = { ...rules, isPrivate: false };
const privately = { ...rules, isPrivate: true };

const listOf = (text: string) => text.split(/\s/);
const never = listOf(`0.0.0.0 127.0.0.1 169.254.169.254 239.255.255.255 240.0.0.1 255.255.255.255
192.0.0.192 100.100.100.200 168.63.129.16 192.88.99.1 :: ::1 ::7f00:1 ::ffff:127.0.0.1
::ffff:10.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::a00:1 2002:7f00:1:: 2001::1 fe80::1
fe80::1%eth0 fec0::1 ff02::1 100::1 fd00:ec2::254 fd20:ce::254`);
/** The last two are this machine's own. */
const onlyPrivately = listOf(`10.255.255.255 172.31.255.255 192.168.0.1 100.127.255.254
198.19.255.255 fc00::1 fd12:3456::1 192.168.7.7 198.51.100.9`);
const always = listOf(`1.1.1.1 203.0.113.10 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1
192.167.1.1 198.17.1.1 198.20.1.1 223.255.255.255 2001:db8::1 2606:4700::1111`);

const [refused, closed] = ["refused_address", "private_address"] as const;

test.each([
  ...never.map((address) => [address, refused, refused] as const),
  ...onlyPrivately.map((address) => [address, closed, null] as const),
  ...always.map((address) => [address, null, null] as const),
])("the address %s has the problem %s, and %s if its entry says private", (address, ...problems) =>
  expect([open, privately].map((one) => addressProblem(address, one))).toEqual(problems),
);

const atGateway = { ...privately, port: 8080 };

test("a run may connect to the same port as the gateway's on another machine", () => {
  expect(addressProblem("192.168.7.8", atGateway)).toBeNull();
});

test("the addresses of this machine are those of its network interfaces", () => {
  const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  expect(new Set(ownAddresses())).toEqual(new Set(all.map(({ address }) => address)));
});
