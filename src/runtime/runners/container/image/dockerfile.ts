import { commandNames } from "../../../wire/requests/table.ts";
import { programMain } from "./program.ts";

/** The user inside every container: a number that no host user is likely to have. */
export const containerUser = { name: "al", uid: 10001, gid: 10001, home: "/home/al" } as const;

/** Folder of the program in the image. */
const programFolder = "/opt/almanac";

/**
 * Compiled code of the program, for faster starts of runs. Not in the image's environment: other Node programs, as in
 * the build of an agent's image, would write there, too.
 */
const compileCache = "/opt/almanac-cache";

/** Folder in which every shell finds commands; a login shell drops the PATH that it was started with. */
const commandFolder = "/usr/local/bin";

/** The program's own command inside the image. */
export const command = `${commandFolder}/al`;

/** Folder of the program in a build's context. */
export const programContext = "program";

/**
 * The Dockerfile of the default image on `base`, which needs Node 24 and either a package manager or the tools. Only
 * missing tools are installed, so that a base with all of them needs no network. Users are created without tools, which
 * differ by distribution. Node reads a compile cache only for the user that wrote it, so the container's user fills it.
 */
export function defaultDockerfile(base: string): string {
  const { name, uid, gid, home } = containerUser;
  return `FROM ${base}
USER root
RUN set -e; missing=""; \\
    for tool in git curl jq; do command -v $tool >/dev/null || missing="$missing $tool"; done; \\
    command -v ssh >/dev/null || missing="$missing openssh-client"; \\
    if [ -n "$missing" ]; then \\
      if command -v apt-get >/dev/null; then \\
        apt-get update && apt-get install -y --no-install-recommends ca-certificates $missing \\
        && rm -rf /var/lib/apt/lists/*; \\
      else apk add --no-cache ca-certificates $missing; fi; \\
    fi
RUN node --eval 'if (parseInt(process.versions.node, 10) < 24) { console.error("the base image has Node " + process.versions.node + ", Node 24 is needed"); process.exit(1) }'
RUN echo "${name}:x:${gid}:" >>/etc/group && \\
    echo "${name}:x:${uid}:${gid}::${home}:/bin/sh" >>/etc/passwd && \\
    mkdir -p ${home} /workspace && chown ${uid}:${gid} ${home} /workspace
COPY ${programContext}/ ${programFolder}/
RUN printf '#!/bin/sh\\nexport NODE_COMPILE_CACHE=${compileCache}\\nexec node ${programFolder}/${programMain} "$@"\\n' >${command} && \\
    chmod 755 ${command} && mkdir ${compileCache} && chown ${uid}:${gid} ${compileCache}
RUN for name in ${commandNames.join(" ")}; do \\
      printf '#!/bin/sh\\nexec node ${programFolder}/${programMain} _agent %s "$@"\\n' $name >${commandFolder}/$name && \\
      chmod 755 ${commandFolder}/$name; \\
    done
ENV HOME=${home}
WORKDIR /workspace
USER ${uid}:${gid}
RUN AL_INSTANCE=build AL_FILL_CACHE=1 ${command} _run-agent build
CMD ["${command}", "--help"]
`;
}
