import { contextOf, projectDirOf, globalContextOf } from "../context.ts";
import { AlCommand } from "../help/al-command.ts";

interface DoctorOptions {
  readonly check?: true;
  readonly strict?: true;
  readonly showKey?: true;
  readonly regenerateKey?: true;
}

/** `al doctor` */
export function doctorCommand(): AlCommand {
  return new AlCommand("doctor")
    .description("find what is wrong with the project and its environment, and fix it")
    .option("--check", "change nothing")
    .option("--strict", "fail on warnings, too")
    .option("--show-key", "print the gateway's API key, and nothing else")
    .option("--regenerate-key", "make a new API key, which ends all sessions, and nothing else")
    .examples("al doctor", "al doctor --check --strict --json", "al doctor --show-key")
    .action(async (options: DoctorOptions, command: AlCommand) => {
      if (options.showKey || options.regenerateKey) {
        const { showKey } = await import("../creds/api-key.ts");
        const context = { ...globalContextOf(command), projectDir: projectDirOf(command) };
        return showKey(context, options);
      }
      const { runDoctor } = await import("../doctor/run-doctor.ts");
      process.exitCode = await runDoctor(contextOf(command), options);
    });
}
