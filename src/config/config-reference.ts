import { type ProfileName, shippedProfileNames } from '../profile/shipped.ts'
import { describeKind } from './variables/value-kind.ts'
import type { Variable } from './variables/variable.ts'
import { defaultOf, variableGroups } from './variables/variables.ts'

const NOT_USED = '–'
const NO_DEFAULT = 'none'

const INTRODUCTION = `<!-- Generated from src/config by \`npm run docs:generate\`. Change the table there. -->
# Configuration

The configuration is read once, at start, and checked as a whole: one error, \`INVALID_CONFIG\`, lists every problem with the
name of the variable, what it got and what it takes. \`unstuck config\` prints each value in force with its source.

## Precedence

1. A command-line option, such as \`--database-url\`.
2. A variable. If several set the same value, the first in the tables below: \`UNSTUCK_DATABASE_URL\`, then
   \`DATABASE_URL\`, then \`PG*\`; \`JOB_*\`, then \`RETRY_*\`, then \`QUEUE_*\`; \`DEFAULT_LEASE_SEC\`, then \`QUEUE_VISIBILITY_SEC\`.
3. The [config file](../guides/operate/configuration.md): \`--config\`, else \`UNSTUCK_CONFIG\`, else \`unstuck.config.ts\` (\`.mts\`, \`.js\`, \`.mjs\`,
   \`.cjs\`) in the working directory.
4. The preset of \`UNSTUCK_PRESET\`, or of \`preset\` in the config file.
5. The policy stored in the database for the table.
6. The default of the profile.

Policy settings of options, variables and the file are sent with each call and never written back, so the stored policy does
not change. A row's own \`max_attempts\` takes precedence over all of them; \`JOB_MAX_ATTEMPTS\` is written into the row when it is
enqueued. Only the value that wins is checked: the others may belong to another program.

## Format of values

- Numbers are plain digits: \`15\`, not \`15s\`. The name ends with the unit. Factors may have decimals, such as \`2.5\`.
- An empty variable is refused, except \`PG*\`, where it counts as not set.
- \`CIRCUIT_FAIL_THRESHOLD\` takes \`50\`, \`50%\` or \`0.5\` for the same share. A number below 1 is a share, one above it a
  percentage; a bare \`1\` is refused as ambiguous.
- No time is longer than 2147483647 ms (almost 25 days), the longest timer of Node.js.
- Passwords are never printed: a database URL is shown without its password, and an invalid one only by its scheme.

## Checks across variables

- At least two heartbeats must fit into the shortest lease, or nothing starts; fewer than three cause a warning.
- The base of a backoff may not exceed its cap. If only one of them is set, the other is the first or last step of the
  profile (for failures in \`native\`, which has no steps: 5 s and 1 h), and yields if necessary.
- A name that begins with \`UNSTUCK_\` or \`REAPER_\` and nearly matches a variable is refused, with the probable name; other
  near misses, such as \`HEARTBEAT_SECS\`, cause a warning.
- A variable without effect in the profile causes a warning, unless it is a directory or an address.

## Variables

One column per profile: the default, \`${NO_DEFAULT}\` without one, and ${NOT_USED} if the profile does not use the variable.
`

/** Renders docs/reference/config.md. */
export function renderConfigReference(): string {
  const sections = variableGroups.map(({ title, variables }) => `### ${title}\n\n${renderTable(variables)}`)
  return `${[INTRODUCTION.trimEnd(), ...sections].join('\n\n')}\n`
}

/** Padded as the repository's formatter does, so that formatting does not change the page. */
function renderTable(variables: readonly Variable[]): string {
  const head = ['Variable', 'Meaning', 'Takes', ...shippedProfileNames, 'Sets', 'Requirement']
  const body = variables.map(cellsOf)
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)),
  )
  const rule = widths.map((width) => '-'.repeat(width))
  return [head, rule, ...body].map((cells) => renderRow(cells, widths)).join('\n')
}

function cellsOf(variable: Variable): string[] {
  return [
    code(variable.name),
    variable.meaning,
    describeKind(variable.kind),
    ...shippedProfileNames.map((profile) => renderDefault(variable, profile)),
    variable.sets.map(code).join(' '),
    variable.requirement,
  ]
}

function renderDefault(variable: Variable, profile: ProfileName): string {
  if (!variable.profiles.includes(profile)) return NOT_USED
  if (variable.requiredBy?.includes(profile)) return 'required'
  const value = defaultOf(variable, profile)
  return value === null ? NO_DEFAULT : code(value)
}

function code(text: string): string {
  return `\`${text}\``
}

function renderRow(cells: readonly string[], widths: readonly number[]): string {
  return `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
}
