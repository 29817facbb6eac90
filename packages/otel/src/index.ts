export { instrumentTokens, type InstrumentOptions } from './instrument-tokens.ts'
export { instruments, type AttributeName, type Instrument, type InstrumentName } from './instruments.ts'
