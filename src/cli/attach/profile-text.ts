// The config file that `attach` drafts: plain data, which loads without the package too.
import type { ExtendedProfile } from '../../profile/extend-profile.ts'
import type { OwnProfile } from '../../profile/own-profile.ts'

export function configText(
  profile: OwnProfile | ExtendedProfile,
  questions: string[],
  isTypeScript: boolean,
): string {
  const head = [
    '// Drafted by unstuck from the table. Review it, then print the plan: unstuck attach --plan',
    ...(questions.length === 0
      ? []
      : ['//', '// To review:', ...questions.map((question) => `// - ${question}`)]),
  ]
  const value = show({ profile })
  const body = isTypeScript
    ? ["import type { ConfigFile } from 'unstuck'", '', `export default ${value} satisfies ConfigFile`]
    : ["/** @type {import('unstuck').ConfigFile} */", `export default ${value}`]
  return `${[...head, '', ...body].join('\n')}\n`
}

const LINE = 100

function show(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((item) => show(item, inner))
    : Object.entries(value).map(([field, item]) => `${showField(field)}: ${show(item, inner)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const line = isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`
  if (parts.length === 0) return `${open}${close}`
  if (!line.includes('\n') && indent.length + line.length <= LINE && indent.length >= 4) return line
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

const showField = (field: string) => (/^[A-Za-z_]\w*$/.test(field) ? field : show(field))

/** The native table needs no profile: the file shows where settings go. */
export function nativeConfigText(isTypeScript: boolean): string {
  const head =
    '// Written by `unstuck init`. docs/reference/config.md lists the settings; `unstuck config` shows the values in use.'
  const value = "{\n  profile: 'native',\n}"
  const body = isTypeScript
    ? ["import type { ConfigFile } from 'unstuck'", '', `export default ${value} satisfies ConfigFile`]
    : ["/** @type {import('unstuck').ConfigFile} */", `export default ${value}`]
  return `${[head, '', ...body].join('\n')}\n`
}
