import { projectId, projectLabel } from "../runners/container/labels.ts";

/** Whether an image was built for an agent of a project other than the one in this directory. */
export function isOfAnotherProject(
  { labels }: { readonly labels: Readonly<Record<string, string | undefined>> },
  projectDir: string,
): boolean {
  const project = labels[projectLabel];
  return project !== undefined && project !== projectId(projectDir);
}

/** Says so of the image with this name. */
export function anotherProjects(image: string): string {
  return `the image ${image} was built for an agent of another project, which removes it when it builds a newer one`;
}
