// Small repositories in a temporary folder for the checks of scripts/ to judge.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

interface Problem {
  path: string
  line: number
  message: string
}

/** Writes the files, answers the folder that holds them, and removes it when the test ends. */
export function makeTree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'unstuck-tree-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return root
}

/** The check as a function of a tree's files to its complaints. Loaded at run time: the scripts are not TypeScript. */
export async function loadCheck(name: string): Promise<(files: Record<string, string>) => string[]> {
  const { findProblems } = (await import(scriptUrl(name).href)) as {
    findProblems: (root: string) => Problem[]
  }
  return (files) => findProblems(makeTree(files)).map(formatProblem)
}

export function scriptUrl(name: string): URL {
  return new URL(`../../../scripts/${name}.mjs`, import.meta.url)
}

export function formatProblem({ path, line, message }: Problem): string {
  return `${path}:${line} ${message}`
}
