// A page of all operations from the OpenAPI document, without scripts, fonts or external addresses.

interface Operation {
  operationId?: string
  summary?: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content?: Record<string, { schema?: { $ref?: string } }> }
  responses?: Record<
    string,
    { description?: string; content?: Record<string, { schema?: { $ref?: string } }> }
  >
}

interface OpenApiDocument {
  info: { title: string; version: string; description?: string | undefined }
  paths?: object | undefined
  components?: { schemas?: object | undefined } | undefined
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export function renderDocsPage({ info, paths = {}, components }: OpenApiDocument): string {
  const items = Object.entries(paths) as [string, Record<string, Operation | undefined>][]
  const operations = items.flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      return operation === undefined ? [] : [renderOperation(method, path, operation)]
    }),
  )
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<details id="schema-${escape(name)}"><summary>${escape(name)}</summary>` +
      `<pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(info.title)}</title><link rel="stylesheet" href="docs/style.css"></head>
<body><main>
<h1>${escape(info.title)} <small>${escape(info.version)}</small></h1>
<p>${escape(info.description ?? '')} For programs: <a href="openapi.json">openapi.json</a>.</p>
<h2>Operations</h2>
${operations.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}
</main></body></html>
`
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const { operationId = '', summary = '', description = '', parameters = [], responses = {} } = operation
  const inputs = parameters.map(
    ({ name, in: place, required }) =>
      `<li><code>${escape(name)}</code> (${place}${required ? ', required' : ''})</li>`,
  )
  const body = schemaLink(operation.requestBody?.content)
  const answers = Object.entries(responses).map(
    ([status, response]) =>
      `<li><code>${status}</code> ${escape(response.description ?? '')} ${schemaLink(response.content)}</li>`,
  )
  return `<section id="${escape(operationId)}">
<h3><code>${method.toUpperCase()} ${escape(path)}</code></h3>
<p>${escape(summary)}. ${escape(description)}</p>
${inputs.length === 0 ? '' : `<ul>${inputs.join('')}</ul>`}
${body === '' ? '' : `<p>Body: ${body}</p>`}
<ul>${answers.join('')}</ul>
</section>`
}

function schemaLink(content: Record<string, { schema?: { $ref?: string } }> = {}): string {
  const name = Object.values(content)[0]?.schema?.$ref?.split('/').at(-1)
  return name === undefined ? '' : `<a href="#schema-${escape(name)}">${escape(name)}</a>`
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escape(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character)
}

export const docsStyle = `:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
section { border-top: 1px solid; padding-block: 0.5rem }
code, pre { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
pre { overflow: auto }
`
