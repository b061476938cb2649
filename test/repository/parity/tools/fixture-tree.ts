// Small repositories in a temporary folder, as input of the checks of scripts/.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

interface Problem {
  path: string
  line: number
  message: string
}

/** Writes the files to a new folder, which is removed when the test ends. */
export function makeTree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'unstuck-tree-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

/** Loads a check as a function from files to problems. At run time, because the scripts are not TypeScript. */
export async function loadCheck(name: string): Promise<(files: Record<string, string>) => string[]> {
  const { findProblems } = (await import(scriptUrl(name).href)) as {
    findProblems: (root: string) => Problem[]
  }
  return (files) => findProblems(makeTree(files)).map(formatProblem)
}

export function scriptUrl(name: string): URL {
  return new URL(`../../../../scripts/${name}.mjs`, import.meta.url)
}

export function formatProblem({ path, line, message }: Problem): string {
  return `${path}:${line} ${message}`
}
