// @ts-check
// A README on npm has no repository around it: its relative links get the address of the file at the released tag.
import { posix } from 'node:path'

const INLINE = /(!?)(\[(?:[^\]]|\](?!\())*\]\()([^)\s]+)(?=[)\s])/g
const HTML = /(<(a|img)\b[^>]*?\b(?:href|src)=")([^"]+)/g
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|#)/i

/**
 * @param {string} markdown
 * @param {{ repository: string, tag: string, folder: string }} place `folder` of the README inside the repository
 */
export function absoluteLinks(markdown, { repository, tag, folder }) {
  /**
   * @param {string} target
   * @param {boolean} isImage
   */
  const resolve = (target, isImage) => {
    if (ELSEWHERE.test(target)) return target
    const path = posix.join(folder, target)
    if (isImage)
      return `${repository.replace('//github.com/', '//raw.githubusercontent.com/')}/${tag}/${path}`
    return `${repository}/blob/${tag}/${path}`
  }
  /** @type {(_: string, mark: string, text: string, target: string) => string} */
  const inline = (_, mark, text, target) => `${mark}${text}${resolve(target, mark === '!')}`
  /** @type {(_: string, start: string, element: string, target: string) => string} */
  const html = (_, start, element, target) => `${start}${resolve(target, element === 'img')}`
  return markdown.replaceAll(INLINE, inline).replaceAll(HTML, html)
}
