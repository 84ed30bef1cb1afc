/** The strings of one payload: of the many that a DAG has, those that it uses. */
export class Strings {
  /** @param {string[]} all */
  constructor(all) {
    this.all = all;
    /** @type {string[]} */ this.list = [];
    /** @type {Map<string, number>} */ this.places = new Map();
    /** @type {Map<number, number>} */ this.taken = new Map();
  }

  /** The place of a text. @param {string} text */
  add(text) {
    let place = this.places.get(text);
    if (place === undefined) {
      place = this.list.push(text) - 1;
      this.places.set(text, place);
    }
    return place;
  }

  /** The place here of a string there; -1 of none. @param {number} place */
  take(place) {
    if (place < 0) return -1;
    let own = this.taken.get(place);
    if (own === undefined) {
      own = this.add(this.all[place]);
      this.taken.set(place, own);
    }
    return own;
  }
}
