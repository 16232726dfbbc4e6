/** Shows what has just happened: marks its places, and moves what moved. */

import type { Event } from "asara/gen/event_pb.js";
import type { Section } from "asara/gen/vocabulary_pb.js";
import { h, render } from "preact";
import type { Moment } from "../match/model.js";
import { SectionIcon, towerHeight } from "./pieces.js";
import { sectionTarget, spaceTarget } from "./targets.js";

const DURATION = 380;
const SVG = "http://www.w3.org/2000/svg";
const EASING = "cubic-bezier(.3, .1, .2, 1)";

/** Returns the places at which an event happened. */
export function placesOf({ seat, event }: Event): readonly string[] {
  switch (event.case) {
    case "buyersDispatched":
    case "fundsTaken":
    case "wishMade":
      return [spaceTarget(event.value.space)];
    case "sectionTaken":
      return [`stall ${event.value.section?.kind ?? 0}`];
    case "pileSearched":
      return [`pile ${event.value.kind}`];
    case "buyersRecruited":
      return ["supply buyers"];
    case "litWindowsDrawn":
    case "litWindowsKept":
      return ["supply lit"];
    case "towerFounded":
      return [`tower ${seat} ${event.value.tower?.number ?? 0}`];
    case "towerExtended":
    case "windowLit":
      return [`tower ${seat} ${event.value.tower}`];
    default:
      return [];
  }
}

/** Marks the places of a moment's events, and nothing else. */
export function freshPlaces(root: Element, moment: Moment): void {
  const places = new Set(moment.events.flatMap(placesOf));
  for (const element of root.querySelectorAll("[data-fresh]"))
    element.removeAttribute("data-fresh");
  for (const place of places) find(root, place)?.setAttribute("data-fresh", "");
}

function find(root: Element, place: string): SVGElement | HTMLElement | null {
  return root.querySelector(`[data-place="${place}"]`);
}

let running: (() => void)[] = [];

/** Moves what moved between two moments; a later call ends the motions of an earlier one. */
export function animateMoment(root: Element, previous: Moment, moment: Moment): void {
  for (const finish of running) finish();
  running = [];
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  if (moment.index !== previous.index + 1) return;
  const risen = new Set<string>();
  for (const event of moment.events.slice(0, 24))
    animateEvent(root, event, previous, moment, risen);
  countUp(root, previous, moment);
}

function animateEvent(
  root: Element,
  { seat, event }: Event,
  previous: Moment,
  moment: Moment,
  risen: Set<string>,
): void {
  switch (event.case) {
    case "buyersDispatched": {
      const place = find(root, spaceTarget(event.value.space));
      const crowd = find(root, `crowd ${event.value.space?.area ?? 0}`);
      const token = [...((crowd ?? place)?.querySelectorAll(".token") ?? [])].at(-1);
      arrive(root, token, root.querySelector(`[data-hand="${seat}"]`));
      break;
    }
    case "sectionTaken": {
      const { section, fromPile } = event.value;
      if (section !== undefined) travel(root, section, fromPile, seat);
      break;
    }
    case "towerFounded":
    case "towerExtended": {
      const { tower } = event.value;
      const number = typeof tower === "number" ? tower : (tower?.number ?? 0);
      const place = `tower ${seat} ${number}`;
      if (!risen.has(place)) rise(root, place, grown(previous, moment, seat, number));
      risen.add(place);
      break;
    }
    case "windowLit":
      for (const glow of find(root, `tower ${seat} ${event.value.tower}`)?.querySelectorAll(
        ".glow, .lit",
      ) ?? []) {
        play(glow, [{ opacity: 0 }, { opacity: 1 }]);
      }
      break;
    default:
  }
}

function play(element: Element, frames: Keyframe[], duration = DURATION): Animation {
  const animation = element.animate(frames, { duration, easing: EASING });
  running.push(() => animation.finish());
  return animation;
}

/** Lets a token come to its place from another element, over all that is drawn. */
function arrive(root: Element, token: Element | undefined, from: Element | null): void {
  const matrix = token instanceof SVGGraphicsElement ? token.getScreenCTM() : null;
  const overlay = root.querySelector(".overlay");
  if (token === undefined || from === null || matrix === null || overlay === null) return;
  const { x: left, y: top } = overlay.getBoundingClientRect();
  const { a, b, c, d, e, f } = matrix;
  const ghost = document.createElementNS(SVG, "svg");
  const copy = ghost.appendChild(document.createElementNS(SVG, "g"));
  ghost.setAttribute("class", "ghost");
  copy.setAttribute("transform", `matrix(${a} ${b} ${c} ${d} ${e - left} ${f - top})`);
  copy.append(token.cloneNode(true));
  overlay.append(ghost);
  const [x, y] = offset(from, token);
  play(token, [{ opacity: 0 }, { opacity: 0 }]);
  const animation = play(ghost, [
    { transform: `translate(${x}px, ${y}px)` },
    { transform: "translate(0, 0)" },
  ]);
  const remove = () => ghost.remove();
  animation.finished.then(remove, remove);
}

/** Way from the middle of one element to the middle of another, backwards. */
function offset(from: Element, to: Element): readonly [number, number] {
  const one = from.getBoundingClientRect();
  const other = to.getBoundingClientRect();
  return [
    one.x + one.width / 2 - other.x - other.width / 2,
    one.y + one.height / 2 - other.y - other.height / 2,
  ];
}

/** Sends a section from its stall to the seat. */
function travel(root: Element, section: Section, fromPile: boolean, seat: number): void {
  const stall = find(root, `stall ${section.kind}`);
  const from =
    (fromPile
      ? find(root, `pile ${section.kind}`)
      : find(root, sectionTarget("display", section))) ?? stall;
  const to =
    root.querySelector(`[data-stock="${seat}"]`) ?? root.querySelector(`[data-seat="${seat}"]`);
  const overlay = root.querySelector(".overlay");
  if (from === null || to === null || overlay === null) return;
  const ghost = document.createElement("span");
  ghost.className = "ghost";
  overlay.append(ghost);
  render(h(SectionIcon, { ...section, size: 40 }), ghost);
  const [x, y] = offset(from, ghost);
  const [toX, toY] = offset(to, ghost);
  const animation = play(ghost, [
    { transform: `translate(${x}px, ${y}px)` },
    { transform: `translate(${toX}px, ${toY}px)` },
  ]);
  const remove = () => {
    render(null, ghost);
    ghost.remove();
  };
  animation.finished.then(remove, remove);
}

function grown(previous: Moment, moment: Moment, seat: number, number: number): number {
  const [before = 0, after = 0] = [previous, moment].map(({ table }) => {
    const tower = table.publicView.seats[seat]?.towers.find((one) => one.number === number);
    return tower === undefined ? 0 : towerHeight(tower);
  });
  return after - before;
}

function rise(root: Element, place: string, by: number): void {
  const tower = find(root, place)?.querySelector(".rise");
  if (tower)
    play(tower, [{ transform: `translate(0, ${by}px)` }, { transform: "translate(0, 0)" }]);
}

/** Counts numbers up or down to their new value. */
function countUp(root: Element, previous: Moment, moment: Moment): void {
  for (const { seat, prestige } of moment.table.publicView.seats) {
    const before = previous.table.publicView.seats[seat]?.prestige ?? prestige;
    const element = root.querySelector(`[data-count="prestige ${seat}"]`);
    const node = element?.firstChild;
    if (before === prestige || !element || !(node instanceof Text)) continue;
    play(element, [{ color: "var(--ink)" }, { color: "var(--accent)" }]);
    const started = performance.now();
    let ended = false;
    const step = (now: number): void => {
      if (ended) return;
      const part = Math.min(1, (now - started) / DURATION);
      node.data = `${Math.round(before + (prestige - before) * part)}`;
      if (part < 1) requestAnimationFrame(step);
    };
    node.data = `${before}`;
    requestAnimationFrame(step);
    running.push(() => {
      ended = true;
      node.data = `${prestige}`;
    });
  }
}
