// @ts-check

/**
 * The anchor of a heading as GitHub makes it, so that a link holds there and on the site.
 * @param {string} heading
 */
export function headingSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}
