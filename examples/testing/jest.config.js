export default {
  testMatch: ['<rootDir>/*.jest.ts'],
  // these packages are TypeScript here; from npm they are JavaScript, and `transform: {}` is enough
  transform: { '\\.ts$': './strip-types.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
}
