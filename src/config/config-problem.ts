import { showValue, UnstuckError } from '../errors/index.ts'

export interface ConfigProblem {
  /** The variable, the option, or the field of the config file. */
  name: string
  /** As displayed: shortened, without secrets. Null if nothing was set. */
  got: string | null
  takes: string
}

export function problem(name: string, got: unknown, takes: string): ConfigProblem {
  return { name, got: showValue(got), takes }
}

export function nameInFile(path: string): string {
  return `${path} in the config file`
}

/** Lists all problems, so that one restart is enough. */
export function invalidConfig(problems: readonly ConfigProblem[]): UnstuckError {
  const lines = new Map(problems.map((found) => [describeProblem(found), found]))
  const count = lines.size === 1 ? '1 problem' : `${lines.size} problems`
  return new UnstuckError(
    'INVALID_CONFIG',
    [`${count} in the configuration:`, ...lines.keys()].join('\n  '),
    {
      details: { problems: [...lines.values()] },
    },
  )
}

function describeProblem({ name, got, takes }: ConfigProblem): string {
  return `${name}: ${got === null ? 'is not set' : `got ${got}`}, takes ${takes}`
}
