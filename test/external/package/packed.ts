// Both packages as npm publishes them, and empty projects that install them.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const run = promisify(execFile)
export const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Packed {
  /** For projects; removed by the caller. */
  home: string
  /** The staged folders, from which the packages are published. */
  folders: { core: string; embedded: string }
  core: string
  embedded: string
}

export async function packPackages(): Promise<Packed> {
  const home = mkdtempSync(join(tmpdir(), 'unstuck-package-'))
  await run(process.execPath, [join(root, 'scripts/release/stage.mjs'), join(home, 'staged')])
  const folders = { core: join(home, 'staged/unstuck'), embedded: join(home, 'staged/embedded') }
  return { home, folders, core: await pack(folders.core, home), embedded: await pack(folders.embedded, home) }
}

async function pack(folder: string, home: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', home], { cwd: folder })
  const [packed] = JSON.parse(stdout) as [{ filename: string }]
  return join(home, packed.filename)
}

/** An empty project with these packages, and nothing of this repository on its path. */
export async function installProject(
  home: string,
  packages: string[],
  type: 'module' | 'commonjs' = 'module',
): Promise<string> {
  const project = mkdtempSync(join(home, 'project-'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type }))
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: project })
  return project
}

/** The worker of the quickstart, as a program of ES modules. */
export function readQuickstart(): string {
  const page = readFileSync(join(root, 'docs/start/quickstart.md'), 'utf8')
  const [, code] = /## 3\. Run a worker\n+```ts\n([\s\S]*?)^```$/m.exec(page) ?? []
  if (code === undefined) throw new Error('the quickstart has no worker')
  return code
}

/** CommonJS has no await outside of functions. */
export function toCommonJs(program: string): string {
  const isImport = (line: string) => line.startsWith('import ')
  const lines = program.split('\n')
  const body = lines.filter((line) => !isImport(line)).join('\n')
  return `${lines.filter(isImport).join('\n')}\nasync function main(): Promise<void> {\n${body}\n}\nvoid main()\n`
}

/** Compiles the program in a project and returns the folder of the JavaScript. */
export async function compile(
  project: string,
  program: string,
  compilerOptions: Record<string, unknown>,
): Promise<string> {
  const options = {
    strict: true,
    target: 'es2022',
    types: ['node'],
    rootDir: 'src',
    outDir: 'out',
    ...compilerOptions,
  }
  mkdirSync(join(project, 'src'), { recursive: true })
  writeFileSync(join(project, 'src/main.ts'), program)
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['src'] }),
  )
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', project]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout)
  })
  return join(project, 'out')
}
