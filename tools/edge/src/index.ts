export { openSuite, scenarioNames, type Suite, unplayed } from './suite/suite.ts'
export { workerdVersion } from './workerd.ts'
