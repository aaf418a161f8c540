/** Packages of Alpine that Debian calls otherwise; an empty text is part of the base image already. */
const renamed: Readonly<Record<string, string>> = {
  "github-cli": "gh",
  "py3-pip": "python3-pip",
  "py3-virtualenv": "python3-venv",
  "python3-dev": "python3-dev",
  "build-base": "build-essential",
  "openssh-client-default": "openssh-client",
  openssh: "openssh-client",
  docker: "docker.io",
  "docker-cli": "docker.io",
  go: "golang-go",
  fd: "fd-find",
  "aws-cli": "awscli",
  "openssl-dev": "libssl-dev",
  "musl-dev": "libc6-dev",
  "zlib-dev": "zlib1g-dev",
  "sqlite-dev": "libsqlite3-dev",
  sqlite: "sqlite3",
  "mysql-client": "default-mysql-client",
  "bind-tools": "bind9-dnsutils",
  iputils: "iputils-ping",
  xz: "xz-utils",
  "gettext-envsubst": "gettext-base",
  "ttf-freefont": "fonts-freefont-ttf",
  "font-noto": "fonts-noto-core",
  "chromium-chromedriver": "chromium-driver",
  rust: "rustc",
  php: "php-cli",
  shadow: "passwd",
  "su-exec": "gosu",
  nodejs: "",
  npm: "",
  "libc6-compat": "",
  gcompat: "",
};

/** Packages that both call the same. */
const same = [
  ...[
    "bash",
    "bzip2",
    "ca-certificates",
    "cargo",
    "chromium",
    "cmake",
    "coreutils",
    "curl",
    "diffutils",
  ],
  ...[
    "ffmpeg",
    "file",
    "findutils",
    "g++",
    "gawk",
    "gcc",
    "git",
    "git-lfs",
    "gnupg",
    "grep",
    "gzip",
  ],
  ...[
    "imagemagick",
    "jq",
    "less",
    "libffi-dev",
    "make",
    "mariadb-client",
    "nano",
    "netcat-openbsd",
  ],
  ...[
    "openssh-client",
    "openssl",
    "patch",
    "perl",
    "pipx",
    "postgresql-client",
    "procps",
    "python3",
  ],
  ...[
    "ripgrep",
    "rsync",
    "ruby",
    "ruby-dev",
    "sed",
    "sudo",
    "tar",
    "tini",
    "tree",
    "tzdata",
    "unzip",
  ],
  ...["util-linux", "vim", "wget", "yq", "zip"],
];

/** An `apk add` in Debian's words. */
export interface AptCommand {
  /** In place of `apk add …`, as a list of commands joined by `&&`. */
  readonly command: string;
  /** Packages that may have another name in Debian. */
  readonly unsure: readonly string[];
}

/** What replaces `apk add` with these arguments; null when it can't be written so, as with a virtual package. */
export function aptCommand(args: readonly string[]): AptCommand | null {
  if (args.some((arg) => /^(-t|--virtual|--repository|-X)\b/.test(arg) || arg.includes("$")))
    return null;
  const names = args
    .filter((arg) => !arg.startsWith("-"))
    .map((arg) => arg.replace(/[=<>~@].*$/, ""));
  const packages = names.map((name) =>
    Object.hasOwn(renamed, name) ? (renamed[name] ?? name) : name,
  );
  const wanted = [...new Set(packages)].filter((name) => name !== "");
  const unsure = names.filter((name) => !Object.hasOwn(renamed, name) && !same.includes(name));
  if (wanted.length === 0) return { command: "true", unsure };
  const install = `apt-get install -y --no-install-recommends ${wanted.join(" ")}`;
  return { command: `apt-get update && ${install} && rm -rf /var/lib/apt/lists/*`, unsure };
}
