// Plays the conformance suite, one scenario in each request. The module is made when the application is built.
// @ts-expect-error -- it is not there before
export { POST } from '../../suite.js'

export const runtime = 'edge'
export const dynamic = 'force-dynamic'
