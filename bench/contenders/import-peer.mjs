// @ts-check
// The peers are packages of this folder: an import from anywhere else would not find them.

/**
 * @param {string} name
 * @returns {Promise<unknown>} the caller knows what it asked for
 */
export function importPeer(name) {
  return import(name)
}
