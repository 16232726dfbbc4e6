#include "asara/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "strings.hpp"

namespace asara {
namespace {

using AreaWord = std::pair<Area, const char*>;

constexpr std::array<AreaWord, 12> area_words{{
    {AREA_BASE_MARKET, "base-market"},
    {AREA_TRUNK_MARKET, "trunk-market"},
    {AREA_WINDOW_MARKET, "window-market"},
    {AREA_TURRET_MARKET, "turret-market"},
    {AREA_BUILDING_CIRCLE, "circle"},
    {AREA_BANK, "bank"},
    {AREA_COLOURED_BUILDING, "coloured-building"},
    {AREA_HOUSE_OF_SPIES, "spies"},
    {AREA_CALIPHS_PATRONAGE, "patronage"},
    {AREA_TENT, "tent"},
    {AREA_HOUSE_OF_LIGHTED_WINDOWS, "lit-windows"},
    {AREA_HOUSE_OF_THE_BOTTLE_GENIE, "genie"},
}};

std::string word(const std::string& name, const char* prefix, int number) {
    return name.empty() ? std::to_string(number) : detail::enum_word(name, prefix);
}

std::string format(Colour colour) { return word(Colour_Name(colour), "COLOUR_", colour); }

std::string format(BuyerColour buyer) {
    return word(BuyerColour_Name(buyer), "BUYER_COLOUR_", buyer);
}

std::string format(SectionKind kind) { return word(SectionKind_Name(kind), "SECTION_KIND_", kind); }

std::string flag(bool set, const char* name) { return set ? std::string(" ") + name : ""; }

std::string format(const Space& space) {
    const auto* const found =
        std::find_if(area_words.begin(), area_words.end(), [&](const AreaWord& each) {
            return each.first == space.area();
        });
    const auto area = found == area_words.end() ? std::to_string(space.area()) : found->second;
    return area + " " + std::to_string(space.number());
}

std::string format(const Section& section) {
    return format(section.colour()) + " " + format(section.kind()) + flag(section.gold(), "gold");
}

template <typename Enum>
std::string format_each(const google::protobuf::RepeatedField<int>& numbers) {
    std::string text;
    for (const auto number : numbers) {
        text += " " + format(static_cast<Enum>(number));
    }
    return text;
}

// Reads the words of an action one after another; every method throws std::invalid_argument.
class Words {
public:
    explicit Words(std::string_view text) : stream_(std::string(text)) {}

    // The next word; empty at the end.
    std::string next() {
        std::string word;
        stream_ >> word;
        return word;
    }

    [[nodiscard]] bool at_end() { return (stream_ >> std::ws).eof(); }

    int number() {
        const auto word = next();
        int number = 0;
        const auto* const end = word.data() + word.size();
        const auto digits = word.find_first_not_of("0123456789") == std::string::npos;
        if (word.empty() || word.size() > 4 || !digits ||
            std::from_chars(word.data(), end, number).ec != std::errc{}) {
            throw std::invalid_argument(
                word.empty() ? "a number is missing" : "'" + word + "' is not a number"
            );
        }
        return number;
    }

    bool flag(const char* name) {
        const auto word = next();
        if (!word.empty() && word != name) {
            throw std::invalid_argument("unexpected '" + word + "'");
        }
        return !word.empty();
    }

    // A member of an enum whose values are 1 to `last`.
    template <typename Enum>
    Enum member(Enum last) {
        const auto word = next();
        std::string names;
        for (int number = 1; number <= last; ++number) {
            const auto name = format(static_cast<Enum>(number));
            if (name == word) {
                return static_cast<Enum>(number);
            }
            names += (names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument(
            word.empty() ? "one of " + names + " is missing"
                         : "'" + word + "' is not one of " + names
        );
    }

    Colour colour() { return member(COLOUR_WHITE); }
    BuyerColour buyer() { return member(BUYER_COLOUR_ORANGE); }
    SectionKind kind() { return member(SECTION_KIND_TURRET); }

    void space(Space& space) {
        const auto word = next();
        std::string names;
        for (const auto& [area, name] : area_words) {
            if (name == word) {
                space.set_area(area);
                space.set_number(number());
                return;
            }
            names += std::string(names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument("no area '" + word + "'; one of " + names);
    }

    void section(Section& section) {
        section.set_colour(colour());
        section.set_kind(kind());
        section.set_gold(flag("gold"));
    }

private:
    std::istringstream stream_;
};

void parse_lay(Words& words, Action& action) {
    auto& lay = *action.mutable_lay_buyers();
    while (!words.at_end() && !lay.face_down()) {
        const auto word = words.next();
        if (word == "face-down") {
            lay.set_face_down(true);
        } else {
            lay.add_buyers(Words(word).buyer());
        }
    }
    if (lay.buyers_size() < 1 || lay.buyers_size() > (lay.face_down() ? 2 : 1)) {
        throw std::invalid_argument("lay one buyer, or two face-down");
    }
}

void parse_keep(Words& words, Action& action) {
    do {
        action.mutable_keep_lit_windows()->add_colours(words.colour());
    } while (!words.at_end());
}

void parse_found(Words& words, Action& action) {
    auto& found = *action.mutable_found_tower();
    found.set_colour(words.colour());
    for (auto flag = words.next(); !flag.empty(); flag = words.next()) {
        if (flag == "gold-base") {
            found.set_base_gold(true);
        } else if (flag == "gold-turret") {
            found.set_turret_gold(true);
        } else {
            throw std::invalid_argument("unexpected '" + flag + "'");
        }
    }
}

void parse_extend(Words& words, Action& action) {
    action.mutable_extend_tower()->set_tower(words.number());
    words.section(*action.mutable_extend_tower()->mutable_section());
}

void parse_light(Words& words, Action& action) {
    action.mutable_light_window()->set_tower(words.number());
    action.mutable_light_window()->set_gold(words.flag("gold"));
}

using Parser = void (*)(Words&, Action&);

const std::vector<std::pair<std::string, Parser>>& parsers() {
    static const std::vector<std::pair<std::string, Parser>> table{
        {"dispatch",
         [](Words& w, Action& a) { w.space(*a.mutable_choose_space()->mutable_space()); }},
        {"lay", parse_lay},
        {"take",
         [](Words& w, Action& a) { w.section(*a.mutable_take_section()->mutable_section()); }},
        {"decline", [](Words& /*w*/, Action& a) { a.mutable_decline(); }},
        {"build", [](Words& w, Action& a) { a.mutable_build_count()->set_count(w.number()); }},
        {"found", parse_found},
        {"extend", parse_extend},
        {"light", parse_light},
        {"search", [](Words& w, Action& a) { a.mutable_search_pile()->set_kind(w.kind()); }},
        {"pay", [](Words& w, Action& a) { a.mutable_pay_offer()->set_asari(w.number()); }},
        {"keep", parse_keep},
        {"wish", [](Words& w, Action& a) { w.space(*a.mutable_wish()->mutable_space()); }},
        {"choose", [](Words& w, Action& a) { a.mutable_choose_buyer()->set_buyer(w.buyer()); }},
        {"return",
         [](Words& w, Action& a) { a.mutable_return_lit_window()->set_colour(w.colour()); }},
    };
    return table;
}

Action parse(Words words) {
    const auto verb = words.next();
    std::string verbs;
    for (const auto& [name, parser] : parsers()) {
        if (name == verb) {
            Action action;
            parser(words, action);
            if (const auto rest = words.next(); !rest.empty()) {
                throw std::invalid_argument("unexpected '" + rest + "'");
            }
            return action;
        }
        verbs += (verbs.empty() ? "" : ", ") + name;
    }
    throw std::invalid_argument("no verb '" + verb + "'; one of " + verbs);
}

}  // namespace

std::string format_action(const Action& action) {
    switch (action.action_case()) {
        case Action::kChooseSpace:
            return "dispatch " + format(action.choose_space().space());
        case Action::kLayBuyers:
            return "lay" + format_each<BuyerColour>(action.lay_buyers().buyers()) +
                   flag(action.lay_buyers().face_down(), "face-down");
        case Action::kTakeSection:
            return "take " + format(action.take_section().section());
        case Action::kDecline:
            return "decline";
        case Action::kBuildCount:
            return "build " + std::to_string(action.build_count().count());
        case Action::kFoundTower:
            return "found " + format(action.found_tower().colour()) +
                   flag(action.found_tower().base_gold(), "gold-base") +
                   flag(action.found_tower().turret_gold(), "gold-turret");
        case Action::kExtendTower:
            return "extend " + std::to_string(action.extend_tower().tower()) + " " +
                   format(action.extend_tower().section());
        case Action::kLightWindow:
            return "light " + std::to_string(action.light_window().tower()) +
                   flag(action.light_window().gold(), "gold");
        case Action::kSearchPile:
            return "search " + format(action.search_pile().kind());
        case Action::kPayOffer:
            return "pay " + std::to_string(action.pay_offer().asari());
        case Action::kKeepLitWindows:
            return "keep" + format_each<Colour>(action.keep_lit_windows().colours());
        case Action::kWish:
            return "wish " + format(action.wish().space());
        case Action::kChooseBuyer:
            return "choose " + format(action.choose_buyer().buyer());
        case Action::kReturnLitWindow:
            return "return " + format(action.return_lit_window().colour());
        case Action::ACTION_NOT_SET:
            break;
    }
    return "no action";
}

Action parse_action(std::string_view text) {
    const auto prefix = "action '" + std::string(text) + "': ";
    Action action;
    try {
        action = parse(Words(text));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(prefix + error.what());
    }
    std::istringstream stream{std::string(text)};
    std::string spaced;
    for (std::string each; stream >> each;) {
        spaced += (spaced.empty() ? "" : " ") + each;
    }
    if (const auto canonical = format_action(action); canonical != spaced) {
        throw std::invalid_argument(prefix + "not in canonical form; write '" + canonical + "'");
    }
    return action;
}

}  // namespace asara
