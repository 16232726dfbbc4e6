package asara;

import asara.v1.Action;
import asara.v1.Area;
import asara.v1.BuildCount;
import asara.v1.BuyerColour;
import asara.v1.ChooseBuyer;
import asara.v1.ChooseSpace;
import asara.v1.Colour;
import asara.v1.Decline;
import asara.v1.ExtendTower;
import asara.v1.FoundTower;
import asara.v1.KeepLitWindows;
import asara.v1.LayBuyers;
import asara.v1.LightWindow;
import asara.v1.PayOffer;
import asara.v1.ReturnLitWindow;
import asara.v1.SearchPile;
import asara.v1.Section;
import asara.v1.SectionKind;
import asara.v1.Space;
import asara.v1.TakeSection;
import asara.v1.Wish;
import com.google.protobuf.ProtocolMessageEnum;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses the text form of an action; the inverse of {@link ActionFormat}. */
final class ActionParser {
  private static final String NUMBER = "[0-9]{1,4}";
  private static final String VERBS =
      "dispatch, lay, take, decline, build, found, extend, light, search, pay, keep, wish, choose,"
          + " return";

  private final Deque<String> words;

  private ActionParser(Deque<String> words) {
    this.words = words;
  }

  /** Returns the action; throws IllegalArgumentException, which names the wrong word. */
  static Action parse(String text) {
    Deque<String> words = new ArrayDeque<>(List.of(text.strip().split("\\s+")));
    String line = String.join(" ", words);
    String verb = words.pop();
    Action.Builder action = Action.newBuilder();
    try {
      new ActionParser(words).parseInto(action, verb);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("action '%s': %s".formatted(text, e.getMessage()));
    }
    if (!words.isEmpty()) {
      throw new IllegalArgumentException(
          "action '%s': unexpected '%s'".formatted(text, words.peek()));
    }
    String canonical = ActionFormat.format(action.build());
    if (!canonical.equals(line)) {
      throw new IllegalArgumentException(
          "action '%s': not in canonical form; write '%s'".formatted(text, canonical));
    }
    return action.build();
  }

  private void parseInto(Action.Builder action, String verb) {
    switch (verb) {
      case "dispatch" -> action.setChooseSpace(ChooseSpace.newBuilder().setSpace(space()));
      case "lay" -> action.setLayBuyers(lay());
      case "take" -> action.setTakeSection(TakeSection.newBuilder().setSection(section()));
      case "decline" -> action.setDecline(Decline.getDefaultInstance());
      case "build" -> action.setBuildCount(BuildCount.newBuilder().setCount(number("a number")));
      case "found" -> action.setFoundTower(found());
      case "extend" ->
          action.setExtendTower(
              ExtendTower.newBuilder().setTower(number("a number")).setSection(section()));
      case "light" ->
          action.setLightWindow(
              LightWindow.newBuilder().setTower(number("a number")).setGold(flag("gold")));
      case "search" -> action.setSearchPile(SearchPile.newBuilder().setKind(kind()));
      case "pay" -> action.setPayOffer(PayOffer.newBuilder().setAsari(number("a number")));
      case "keep" -> action.setKeepLitWindows(keep());
      case "wish" -> action.setWish(Wish.newBuilder().setSpace(space()));
      case "choose" -> action.setChooseBuyer(ChooseBuyer.newBuilder().setBuyer(buyer()));
      case "return" -> action.setReturnLitWindow(ReturnLitWindow.newBuilder().setColour(colour()));
      default ->
          throw new IllegalArgumentException("no verb '%s'; one of %s".formatted(verb, VERBS));
    }
  }

  private Space space() {
    Area area = value("area", Area.values());
    return Space.newBuilder().setArea(area).setNumber(number("the number of a space")).build();
  }

  private Section section() {
    Colour colour = colour();
    SectionKind kind = kind();
    return Section.newBuilder().setColour(colour).setKind(kind).setGold(flag("gold")).build();
  }

  private LayBuyers lay() {
    List<BuyerColour> buyers = new ArrayList<>();
    while (!words.isEmpty() && !words.peek().equals("face-down")) {
      buyers.add(buyer());
    }
    buyers.sort(null);
    boolean faceDown = flag("face-down");
    if (buyers.isEmpty() || buyers.size() > (faceDown ? 2 : 1)) {
      throw new IllegalArgumentException("lay one buyer, or two face-down");
    }
    return LayBuyers.newBuilder().addAllBuyers(buyers).setFaceDown(faceDown).build();
  }

  private FoundTower found() {
    Colour colour = colour();
    boolean baseGold = flag("gold-base");
    boolean turretGold = flag("gold-turret");
    return FoundTower.newBuilder()
        .setColour(colour)
        .setBaseGold(baseGold)
        .setTurretGold(turretGold)
        .build();
  }

  private KeepLitWindows keep() {
    List<Colour> colours = new ArrayList<>();
    do {
      colours.add(colour());
    } while (!words.isEmpty());
    colours.sort(null);
    return KeepLitWindows.newBuilder().addAllColours(colours).build();
  }

  private Colour colour() {
    return value("colour", Colour.values());
  }

  private BuyerColour buyer() {
    return value("buyer", BuyerColour.values());
  }

  private SectionKind kind() {
    return value("section kind", SectionKind.values());
  }

  private <E extends Enum<E> & ProtocolMessageEnum> E value(String what, E[] values) {
    Map<String, E> byWord = new LinkedHashMap<>();
    for (E value : values) {
      if (value.ordinal() > 0 && !value.name().equals("UNRECOGNIZED")) {
        byWord.put(ActionFormat.word(value, value.getNumber()), value);
      }
    }
    String word = words.poll();
    if (word == null) {
      throw new IllegalArgumentException("a " + what + " is missing");
    }
    E found = byWord.get(word);
    if (found == null) {
      throw new IllegalArgumentException(
          "no %s '%s'; one of %s".formatted(what, word, String.join(", ", byWord.keySet())));
    }
    return found;
  }

  private int number(String what) {
    String word = words.poll();
    if (word == null) {
      throw new IllegalArgumentException(what + " is missing");
    }
    if (!word.matches(NUMBER)) {
      throw new IllegalArgumentException("'%s' is not %s".formatted(word, what));
    }
    return Integer.parseInt(word);
  }

  private boolean flag(String word) {
    if (word.equals(words.peek())) {
      words.pop();
      return true;
    }
    return false;
  }
}
