import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join, resolve } from 'node:path'
import { isModuleNamespaceObject } from 'node:util/types'
import { showValue, UnstuckError } from '../../errors/index.ts'
import type { ConfigFile } from '../config.ts'

const NAME = 'unstuck.config'
const ENDINGS = ['.ts', '.mts', '.js', '.mjs', '.cjs']

/** Gives an editor the types of a config file: `export default defineConfig({ … })`. */
export function defineConfig(file: ConfigFile): ConfigFile {
  return file
}

/**
 * Returns the export of the config file; undefined if there is none. A path `given` explicitly has to exist. Uses `require`,
 * which also loads ES modules and is synchronous, as `unstuck()` is.
 */
export function readConfigFile(
  cwd: string,
  given: string | undefined = process.env['UNSTUCK_CONFIG'],
): ConfigFile | undefined {
  const path = given === undefined ? findConfigFile(cwd) : resolve(cwd, given)
  if (path === undefined) return undefined
  if (given !== undefined && !isFile(path)) {
    throw refusal(`--config or UNSTUCK_CONFIG: got ${showValue(given)}, takes a file that exists`)
  }
  return defaultExport(load(path)) as ConfigFile
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

export function findConfigFile(cwd: string): string | undefined {
  const [found, other] = ENDINGS.map((ending) => join(cwd, `${NAME}${ending}`)).filter((path) => isFile(path))
  if (found !== undefined && other !== undefined) {
    throw refusal(`${basename(found)} and ${basename(other)}: two config files; keep one of them`)
  }
  return found
}

function load(path: string): unknown {
  try {
    return createRequire(path)(path)
  } catch (cause) {
    throw explain(path, cause)
  }
}

function explain(path: string, cause: unknown): UnstuckError {
  const name = basename(path)
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ERR_REQUIRE_ASYNC_MODULE') {
    return refusal(`${name}: a config file may not use top-level await`, cause)
  }
  const isTypeScript = extname(path).endsWith('ts')
  // Some loaders support TypeScript on any Node, so loading is tried first.
  if (isTypeScript && !readsTypeScript() && (isSyntaxError(cause) || code === 'ERR_UNKNOWN_FILE_EXTENSION')) {
    return refusal(`${name} needs Node 22.18 or Bun; name it ${name.replace(/\.m?ts$/, '.mjs')}`, cause)
  }
  return refusal(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
}

/** By name: the error may come from another realm, as under a test runner. */
function isSyntaxError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'SyntaxError'
}

export function readsTypeScript(): boolean {
  return (
    ('typescript' in process.features && Boolean(process.features.typescript)) ||
    process.versions['bun'] !== undefined
  )
}

/** A CommonJS file may export the object itself; an ES module needs a default export. */
function defaultExport(loaded: unknown): unknown {
  if (typeof loaded !== 'object' || loaded === null) return loaded
  if ('default' in loaded) return loaded.default
  return isModuleNamespaceObject(loaded) ? null : loaded
}

function refusal(message: string, cause?: unknown): UnstuckError {
  return new UnstuckError('INVALID_CONFIG', message, cause === undefined ? {} : { cause })
}
