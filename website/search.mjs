// @ts-check
// The options of the site's search, which scripts/docs/check-search.mjs uses too.

/**
 * Guides and the API before reference tables that only list a word. Runs in the browser: self-contained.
 * @param {string} id
 */
export function boostDocument(id) {
  if (id.includes('/docs/reference/api.html')) return 2
  return 1
}
