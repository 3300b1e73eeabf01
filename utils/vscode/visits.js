// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The moments that a session has been at, for Back and Forward. A step moves the place where
// one is; anything else is a jump, which leaves the place before it behind.
'use strict';

// More than anybody goes back through.
const Most = 500;

class Visits {
  constructor() {
    this.moments = []; // { time, thread }, in the order of the visits
    this.here = -1; // index of the one we are at
  }

  get now() { return this.moments[this.here]; }

  stopped(moment, isStep) {
    const now = this.now;
    if (now && now.time === moment.time) {
      this.moments[this.here] = moment;
      return;
    }
    if (isStep && now) {
      this.moments[this.here] = moment;
      return;
    }
    this.moments.splice(this.here + 1, Infinity, moment);
    if (this.moments.length > Most) this.moments.shift();
    this.here = this.moments.length - 1;
  }

  // Makes the moment before or after this one the present one. Undefined: there is none.
  go(direction) {
    const moment = this.moments[this.here + direction];
    if (moment) this.here += direction;
    return moment;
  }
}

module.exports = { Visits };
