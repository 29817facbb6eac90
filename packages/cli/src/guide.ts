/** The pages that this package brings, as `scripts/shipped-pages.ts` copies them: those that messages name, and more. */
export const guide = 'node_modules/tokenlane/guide'
