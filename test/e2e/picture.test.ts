import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { copyProject, runAl, type TestProject } from "../helpers/scheduler.ts";

let project: TestProject;
beforeAll(async () => void (project = await copyProject("examples/hello")));
afterAll(() => project.remove());

/** A grey PNG of this many pixels a side. */
function picture(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 8; // bits; colour type 0 is grey
  const rows = deflateSync(Buffer.alloc((side + 1) * side));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const ends = chunk("IEND", Buffer.alloc(0));
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", rows), ends]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

test("the built program makes a large picture smaller before a model sees it", async () => {
  const file = join(project.dir, "large.png");
  await writeFile(file, picture(2500));
  const script = `[[turns]]\n[[turns.tools]]\nname = "read"\narguments = { path = "${file}" }\n[[turns]]\ntext = "seen"\n`;
  await writeFile(join(project.dir, "hello.script.toml"), script);
  const { code, stdout, stderr } = await runAl(project, ["run", "hello"]);
  expect(code).toBe(0);
  expect(stdout + stderr).toContain("original 2500x2500, displayed at 2000x2000");
});
