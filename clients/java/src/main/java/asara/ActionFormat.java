package asara;

import asara.v1.Action;
import asara.v1.Area;
import asara.v1.ExtendTower;
import asara.v1.FoundTower;
import asara.v1.LayBuyers;
import asara.v1.LightWindow;
import asara.v1.Section;
import asara.v1.Space;
import com.google.protobuf.ProtocolMessageEnum;
import java.util.List;
import java.util.Locale;

/** The short text form of an action, which replays and the referee's logs also use. */
final class ActionFormat {
  private ActionFormat() {}

  /**
   * Returns the text of an action, such as {@code dispatch bank 12}.
   *
   * <p>An action with no member set reads {@code no action}; enum values unknown to this version
   * read as numbers.
   */
  static String format(Action action) {
    return switch (action.getActionCase()) {
      case CHOOSE_SPACE -> "dispatch " + space(action.getChooseSpace().getSpace());
      case LAY_BUYERS -> lay(action.getLayBuyers());
      case TAKE_SECTION -> "take " + section(action.getTakeSection().getSection());
      case DECLINE -> "decline";
      case BUILD_COUNT -> "build " + action.getBuildCount().getCount();
      case FOUND_TOWER -> found(action.getFoundTower());
      case EXTEND_TOWER -> extend(action.getExtendTower());
      case LIGHT_WINDOW -> light(action.getLightWindow());
      case SEARCH_PILE -> {
        var search = action.getSearchPile();
        yield "search " + word(search.getKind(), search.getKindValue());
      }
      case PAY_OFFER -> "pay " + action.getPayOffer().getAsari();
      case KEEP_LIT_WINDOWS -> {
        var keep = action.getKeepLitWindows();
        yield words("keep", keep.getColoursList(), keep.getColoursValueList());
      }
      case WISH -> "wish " + space(action.getWish().getSpace());
      case CHOOSE_BUYER -> {
        var choose = action.getChooseBuyer();
        yield "choose " + word(choose.getBuyer(), choose.getBuyerValue());
      }
      case RETURN_LIT_WINDOW -> {
        var back = action.getReturnLitWindow();
        yield "return " + word(back.getColour(), back.getColourValue());
      }
      case ACTION_NOT_SET -> "no action";
    };
  }

  private static String lay(LayBuyers lay) {
    return words("lay", lay.getBuyersList(), lay.getBuyersValueList())
        + flag(lay.getFaceDown(), "face-down");
  }

  private static String found(FoundTower found) {
    return "found "
        + word(found.getColour(), found.getColourValue())
        + flag(found.getBaseGold(), "gold-base")
        + flag(found.getTurretGold(), "gold-turret");
  }

  private static String extend(ExtendTower extend) {
    return "extend " + extend.getTower() + " " + section(extend.getSection());
  }

  private static String light(LightWindow light) {
    return "light " + light.getTower() + flag(light.getGold(), "gold");
  }

  private static String space(Space space) {
    return word(space.getArea(), space.getAreaValue()) + " " + space.getNumber();
  }

  private static String section(Section section) {
    return word(section.getColour(), section.getColourValue())
        + " "
        + word(section.getKind(), section.getKindValue())
        + flag(section.getGold(), "gold");
  }

  private static String words(
      String verb, List<? extends ProtocolMessageEnum> values, List<Integer> numbers) {
    StringBuilder text = new StringBuilder(verb);
    for (int i = 0; i < numbers.size(); i++) {
      text.append(' ').append(word(values.get(i), numbers.get(i)));
    }
    return text.toString();
  }

  private static String flag(boolean value, String word) {
    return value ? " " + word : "";
  }

  /** Returns the word of an enum value, or its number if this version does not know it. */
  static String word(ProtocolMessageEnum value, int number) {
    if (value instanceof Area area) {
      return areaWord(area, number);
    }
    String name = value.toString();
    if (name.equals("UNRECOGNIZED")) {
      return Integer.toString(number);
    }
    return name.substring(name.lastIndexOf('_') + 1).toLowerCase(Locale.ROOT);
  }

  private static String areaWord(Area area, int number) {
    return switch (area) {
      case AREA_BASE_MARKET -> "base-market";
      case AREA_TRUNK_MARKET -> "trunk-market";
      case AREA_WINDOW_MARKET -> "window-market";
      case AREA_TURRET_MARKET -> "turret-market";
      case AREA_BUILDING_CIRCLE -> "circle";
      case AREA_BANK -> "bank";
      case AREA_COLOURED_BUILDING -> "coloured-building";
      case AREA_HOUSE_OF_SPIES -> "spies";
      case AREA_CALIPHS_PATRONAGE -> "patronage";
      case AREA_TENT -> "tent";
      case AREA_HOUSE_OF_LIGHTED_WINDOWS -> "lit-windows";
      case AREA_HOUSE_OF_THE_BOTTLE_GENIE -> "genie";
      case AREA_UNSPECIFIED, UNRECOGNIZED -> Integer.toString(number);
    };
  }
}
