// Shows the jobs of one user by unstuck's own API, and asks for a retry through it.

/** @typedef {{ id: string, status: string, attempt: number, payload: { name: string }, error: { public_code: string } | null }} JobView */
/** @typedef {{ is_allowed: boolean, reason: string | null }} Retry */
/** @typedef {{ banner: string | null, isBroken: boolean, user: string | null }} Status */

const POLL_MS = 1_000
const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id))

/**
 * The header says that a page of this server sends it: the API refuses a write by cookie without.
 * @param {string} path
 * @param {RequestInit} [init]
 */
const call = (path, init = {}) => fetch(path, { ...init, headers: { 'x-unstuck': '1' } })

/**
 * @template T
 * @param {string} path
 * @returns {Promise<T | undefined>}
 */
async function read(path) {
  const response = await call(path)
  return response.ok ? /** @type {T} */ (await response.json()) : undefined
}

async function refresh() {
  /** @type {Status | undefined} */
  const status = await read('/status')
  if (status === undefined) return
  byId('banner').hidden = status.banner === null
  byId('banner').textContent = status.banner
  byId('user').textContent = status.user ?? 'nobody'
  byId('gateway').textContent = status.isBroken ? 'is broken' : 'works'
  /** @type {{ jobs: JobView[] } | undefined} */
  const page = status.user === null ? undefined : await read('/v1/jobs?with_payload=true')
  const rows = await Promise.all((page?.jobs ?? []).map(rowOf))
  byId('jobs').replaceChildren(...rows)
}

/** @param {JobView} job */
async function rowOf(job) {
  const row = document.createElement('tr')
  row.dataset['job'] = job.id
  for (const text of [job.payload.name, job.status, String(job.attempt), job.error?.public_code ?? ''])
    row.insertCell().textContent = text
  const actions = row.insertCell()
  if (job.status === 'succeeded') actions.append(link('XML', `/results/${job.id}`))
  if (job.status === 'dead') {
    /** @type {{ retry: Retry } | undefined} */
    const found = await read(`/v1/jobs/${job.id}`)
    actions.append(...retryButton(job, found?.retry ?? { is_allowed: false, reason: null }))
    actions.append(button('Delete the PDF', () => call(`/sources/${job.id}`, { method: 'DELETE' })))
  }
  return row
}

/**
 * @param {JobView} job
 * @param {Retry} retry
 */
function retryButton(job, retry) {
  const retryNow = button('Retry', () => call(`/api/jobs/${job.id}/retry`, { method: 'POST' }))
  retryNow.disabled = !retry.is_allowed
  retryNow.title = retry.reason ?? ''
  return retry.reason === null ? [retryNow] : [retryNow, `${retry.reason} `]
}

/**
 * @param {string} text
 * @param {() => Promise<unknown>} act
 */
function button(text, act) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = text
  made.addEventListener('click', () => void act().then(refresh))
  return made
}

/**
 * @param {string} text
 * @param {string} href
 */
function link(text, href) {
  const made = document.createElement('a')
  made.textContent = text
  made.href = href
  return made
}

/**
 * @param {string} name
 * @param {Blob} pdf
 */
async function upload(name, pdf) {
  const response = await call(`/uploads?name=${encodeURIComponent(name)}`, { method: 'POST', body: pdf })
  if (!response.ok) {
    const { code } = /** @type {{ code: string }} */ (await response.json())
    alert(code)
  }
  await refresh()
}

/** @param {'login' | 'gateway' | 'sample'} kind @param {(value: string) => Promise<unknown>} act */
function onClick(kind, act) {
  for (const element of document.querySelectorAll(`[data-${kind}]`)) {
    const value = /** @type {HTMLElement} */ (element).dataset[kind] ?? ''
    element.addEventListener('click', () => void act(value).then(refresh))
  }
}

onClick('login', (user) => call(`/login/${user}`, { method: 'POST' }))
onClick('gateway', (state) => call(`/gateway/${state}`, { method: 'POST' }))
onClick('sample', (kind) =>
  upload(`${kind}.pdf`, new Blob([`%PDF-1.4\n% ${kind} of ${new Date().toISOString()}\n%%EOF\n`])),
)
byId('file').addEventListener('change', (event) => {
  const [file] = /** @type {HTMLInputElement} */ (event.target).files ?? []
  if (file !== undefined) void upload(file.name, file)
})
await refresh()
setInterval(() => void refresh(), POLL_MS)
